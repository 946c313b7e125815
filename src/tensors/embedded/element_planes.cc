#include "tensors/embedded/element_planes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace hoist::tensors {
namespace {

constexpr uint64_t kLowestBits = 0x0101010101010101;

// Bit i of `byte` as the lowest bit of byte i.
constexpr std::array<uint64_t, 256> kSpread = [] {
  std::array<uint64_t, 256> table{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    for (int i = 0; i < 8; ++i) table[byte] |= (byte >> i & 1) << (8 * i);
  }
  return table;
}();

// The opposite; only the lowest bit of each byte counts.
uint8_t gather_lowest(uint64_t bytes) {
  return static_cast<uint8_t>((bytes & kLowestBits) * 0x0102040810204080 >> 56);
}

// Byte b of eight elements, that of element i as byte i.
template <size_t kWidth>
using Rows = std::array<uint64_t, kWidth>;

template <size_t kWidth>
size_t split_blocks(const std::byte* elements, size_t count,
                    std::span<const BitPlane<std::byte>> planes) {
  for (size_t block = 0; block < count / 8; ++block) {
    uint8_t bytes[8 * kWidth];
    std::memcpy(bytes, elements + block * sizeof bytes, sizeof bytes);
    Rows<kWidth> rows{};
    for (size_t i = 0; i < sizeof bytes; ++i) {
      rows[i % kWidth] |= uint64_t{bytes[i]} << (8 * (i / kWidth));
    }
    for (const BitPlane<std::byte>& plane : planes) {
      plane.bytes[block] = std::byte{gather_lowest(rows[plane.bit / 8] >> (plane.bit % 8))};
    }
  }
  return count / 8 * 8;
}

template <size_t kWidth>
Merged merge_blocks(const MergeTables& tables, const uint8_t* symbols, size_t count,
                    std::span<const BitPlane<const std::byte>> planes, std::byte* elements) {
  const size_t blocks = count / 8;
  for (size_t block = 0; block < blocks; ++block) {
    Rows<kWidth> rows{};
    for (const BitPlane<const std::byte>& plane : planes) {
      rows[plane.bit / 8] |= kSpread[std::to_integer<uint8_t>(plane.bytes[block])]
                             << (plane.bit % 8);
    }
    uint8_t bytes[8 * kWidth];
    for (size_t i = 0; i < sizeof bytes; ++i) {
      const size_t row = i % kWidth;
      bytes[i] = tables.rows[row][symbols[8 * block + i / kWidth]] |
                 static_cast<uint8_t>(rows[row] >> (8 * (i / kWidth)));
    }
    std::memcpy(elements + block * sizeof bytes, bytes, sizeof bytes);
  }
  uint8_t highest = 0;
  for (size_t i = 0; i < 8 * blocks; ++i) highest = std::max(highest, symbols[i]);
  return {8 * blocks, highest};
}

template <typename Byte>
std::array<BitPlane<Byte>, kMostPlanes> advance(std::span<const BitPlane<Byte>> planes,
                                                size_t elements) {
  std::array<BitPlane<Byte>, kMostPlanes> moved{};
  for (size_t i = 0; i < planes.size(); ++i) {
    moved[i] = {planes[i].bytes + elements / 8, planes[i].bit};
  }
  return moved;
}

// Slowest first.
constexpr const ElementPlanes* kImplementations[] = {
    &kElementPlanesPortable,
#if defined(__x86_64__)
    &kElementPlanesAvx2,
    &kElementPlanesAvx512,
#endif
};

}  // namespace

constinit const ElementPlanes kElementPlanesPortable = {
    "portable",
    [] { return true; },
    {split_blocks<1>, split_blocks<2>, split_blocks<4>, split_blocks<8>},
    {merge_blocks<1>, merge_blocks<2>, merge_blocks<4>, merge_blocks<8>}};

MergeTables::MergeTables(const std::array<uint64_t, 256>& bases, uint32_t symbols)
    : symbol_count(symbols) {
  for (size_t symbol = 0; symbol < 256; ++symbol) {
    for (size_t b = 0; b < 8; ++b) {
      rows[b][symbol] = static_cast<uint8_t>(bases[symbol] >> (8 * b));
    }
  }
}

std::span<const ElementPlanes* const> element_planes_implementations() { return kImplementations; }

const ElementPlanes& best_element_planes() {
  static const ElementPlanes& best = **std::find_if(
      std::rbegin(kImplementations), std::rend(kImplementations),
      [](const ElementPlanes* implementation) { return implementation->supported(); });
  return best;
}

void split_elements(const std::byte* elements, size_t width, size_t count,
                    std::span<const BitPlane<std::byte>> planes, const ElementPlanes& with) {
  const size_t index = static_cast<size_t>(std::countr_zero(width));
  size_t done = with.split[index](elements, count, planes);
  const auto rest = advance(planes, done);
  const std::span<const BitPlane<std::byte>> moved(rest.data(), planes.size());
  done += kElementPlanesPortable.split[index](elements + done * width, count - done, moved);
  if (done == count) return;
  // The last few, filled up with zeros.
  std::byte last[8 * 8] = {};
  std::memcpy(last, elements + done * width, (count - done) * width);
  const auto end = advance(planes, done);
  kElementPlanesPortable.split[index](last, 8, {end.data(), planes.size()});
}

bool merge_elements(const MergeTables& tables, const uint8_t* symbols, size_t width, size_t count,
                    std::span<const BitPlane<const std::byte>> planes, std::byte* elements,
                    const ElementPlanes& with) {
  const size_t index = static_cast<size_t>(std::countr_zero(width));
  Merged merged = with.merge[index](tables, symbols, count, planes, elements);
  uint8_t highest = merged.highest_symbol;
  size_t done = merged.count;
  if (done != count) {
    const auto rest = advance(planes, done);
    merged =
        kElementPlanesPortable.merge[index](tables, symbols + done, count - done,
                                            {rest.data(), planes.size()}, elements + done * width);
    highest = std::max(highest, merged.highest_symbol);
    done += merged.count;
  }
  if (done != count) {
    uint8_t last_symbols[8] = {};
    std::memcpy(last_symbols, symbols + done, count - done);
    std::byte last[8 * 8];
    const auto rest = advance(planes, done);
    merged = kElementPlanesPortable.merge[index](tables, last_symbols, 8,
                                                 {rest.data(), planes.size()}, last);
    highest = std::max(highest, merged.highest_symbol);
    std::memcpy(elements + done * width, last, (count - done) * width);
  }
  return count == 0 || highest < tables.symbol_count;
}

}  // namespace hoist::tensors
