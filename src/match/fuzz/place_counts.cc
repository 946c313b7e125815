#include "match/fuzz/place_counts.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hoist::match {
namespace {

uint64_t word_at(const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// How many bytes of a word are not zero.
uint64_t nonzero_bytes(uint64_t word) {
  constexpr uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  constexpr uint64_t kOnes = 0x0101010101010101;
  return ((((word & kLow) + kLow) | word) >> 7 & kOnes) * kOnes >> 56;
}

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint64_t Words __attribute__((vector_size(16)));

uint64_t sum_of(Bytes bytes) {
  constexpr uint64_t kEven = 0x00FF00FF00FF00FF;
  const Words words = (Words)bytes;
  uint64_t sums = 0;  // of 16 bits
  for (size_t i = 0; i < 2; ++i) sums += (words[i] & kEven) + ((words[i] >> 8) & kEven);
  return sums * 0x0001000100010001 >> 48;
}

uint64_t byte_differences(const uint8_t* a, const uint8_t* b, size_t size) {
  constexpr size_t kBytes = sizeof(Bytes);
  constexpr size_t kMostSteps = 255;  // whose sums fit into bytes
  const auto at = [](const uint8_t* bytes) {
    Bytes vector;
    std::memcpy(&vector, bytes, kBytes);
    return vector;
  };
  uint64_t count = 0;
  size_t i = 0;
  while (i + kBytes <= size) {
    Bytes sums = {};
    const size_t end = std::min(size, i + kBytes * kMostSteps);
    for (; i + kBytes <= end; i += kBytes) sums -= (Bytes)(at(a + i) != at(b + i));
    count += sum_of(sums);
  }
  for (; i + 8 <= size; i += 8) count += nonzero_bytes(word_at(a + i) ^ word_at(b + i));
  const size_t left = size - i;
  if (left != 0 && size >= 8) {
    // The last word, without what was compared.
    const uint64_t last = word_at(a + size - 8) ^ word_at(b + size - 8);
    return count + nonzero_bytes(last >> (8 * (8 - left)));
  }
  for (; i < size; ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

template <typename A, typename B>
uint64_t differences(const A* a, const B* b, size_t size) {
  if constexpr (sizeof(A) == 1 && sizeof(B) == 1) {
    return byte_differences(a, b, size);
  } else {
    uint64_t count = 0;
    for (size_t i = 0; i < size; ++i) count += a[i] != b[i] ? 1 : 0;
    return count;
  }
}

template <typename A, typename B>
uint64_t equal_prefix(const A* a, const B* b, size_t size) {
  size_t i = 0;
  if constexpr (sizeof(A) == 1 && sizeof(B) == 1) {
    for (; i + 8 <= size; i += 8) {
      const uint64_t differ = word_at(a + i) ^ word_at(b + i);
      if (differ != 0) return i + static_cast<uint64_t>(std::countr_zero(differ)) / 8;
    }
  }
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

template <typename A, typename B>
uint64_t equal_suffix(const A* a, const B* b, size_t size) {
  size_t i = 0;  // from the ends, which a and b are
  if constexpr (sizeof(A) == 1 && sizeof(B) == 1) {
    for (; i + 8 <= size; i += 8) {
      const uint64_t differ = word_at(a - i - 8) ^ word_at(b - i - 8);
      if (differ != 0) return i + static_cast<uint64_t>(std::countl_zero(differ)) / 8;
    }
  }
  while (i < size && *(a - i - 1) == *(b - i - 1)) ++i;
  return i;
}

// work(symbols of a, symbols of b).
template <typename Work>
uint64_t with_both(const Sequence& a, const Sequence& b, const Work& work) {
  if (a.width == 1 && b.width == 1) {
    return work(static_cast<const uint8_t*>(a.symbols), static_cast<const uint8_t*>(b.symbols));
  }
  return with_symbols(a, [&](const auto x) {
    return with_symbols(b, [&](const auto y) { return work(x.data(), y.data()); });
  });
}

}  // namespace

uint64_t hamming_distance(const Sequence& a, const Sequence& b) {
  const size_t common = std::min(a.length, b.length);
  const uint64_t differ =
      with_both(a, b, [&](const auto* x, const auto* y) { return differences(x, y, common); });
  return std::max(a.length, b.length) - common + differ;
}

uint64_t common_prefix_of(const Sequence& a, const Sequence& b) {
  const size_t most = std::min(a.length, b.length);
  return with_both(a, b, [&](const auto* x, const auto* y) { return equal_prefix(x, y, most); });
}

uint64_t common_suffix_of(const Sequence& a, const Sequence& b) {
  const size_t most = std::min(a.length, b.length);
  return with_both(a, b, [&](const auto* x, const auto* y) {
    return equal_suffix(x + a.length, y + b.length, most);
  });
}

}  // namespace hoist::match
