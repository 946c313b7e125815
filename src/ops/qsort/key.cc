#include "ops/qsort/key.h"

#include <algorithm>

#include "ops/qsort/collation.h"

namespace hoist::qsort {

namespace words {

// Reads behind the string's end on purpose, where the page goes on, and drops what it finds.
__attribute__((no_sanitize("address"))) uint64_t of_string(const std::byte* pointer, size_t skip,
                                                           const Mappings& mappings) {
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = uint64_t;
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(pointer) + skip;
  // Where the word lies within one page that the string has reached, its mapping need not be asked
  // for: pages are readable as a whole. The caller has found the string's first byte readable, and
  // every earlier word of it was free of NULs.
  if (address % kPage <= kPage - 8 && (skip == 0 || address % kPage != 0)) {
    return until_nul(__builtin_bswap64(*reinterpret_cast<const Unaligned*>(pointer + skip)));
  }
  const uintptr_t end = mappings.end_of(address);
  uint64_t word = 0;
  for (uintptr_t i = 0; i < 8 && address + i < end; ++i) {
    const auto byte = std::to_integer<uint64_t>(pointer[skip + i]);
    if (byte == 0) break;
    word |= byte << (56 - 8 * i);
  }
  return word;
}

uint64_t of_collated(const std::byte* pointer, const Mappings& mappings) {
  return collation_word(pointer, mappings);
}

}  // namespace words

bool continues(const Key& key, uint64_t word, size_t depth) {
  if (is_number(key.type) || key.type == KeyType::collated) return false;
  const uint64_t last = (key.descending ? ~word : word) & 0xff;
  if (key.type == KeyType::string) return last != 0;
  return 8 * (depth + 1) < key.length && (key.type == KeyType::bytes || last != 0);
}

bool Order::operator==(const Order& other) const {
  return std::equal(keys.begin(), keys.begin() + count, other.keys.begin(),
                    other.keys.begin() + other.count);
}

int compare(const Key& key, const std::byte* a, const std::byte* b, const Mappings& mappings) {
  constexpr size_t kDeepest = size_t{8} << 10;
  if (key.type == KeyType::collated) {
    const auto string_of = [&](const std::byte* element) {
      return words::load<const std::byte*>(element + key.offset);
    };
    return key.descending ? collate(string_of(b), string_of(a), mappings)
                          : collate(string_of(a), string_of(b), mappings);
  }
  for (size_t depth = 0; depth < kDeepest; ++depth) {
    const auto [x, y] = with_reader(key, depth, mappings, [=](auto&& read) {
      return std::pair<uint64_t, uint64_t>(read(a), read(b));
    });
    if (x != y) return x < y ? -1 : 1;
    if (!continues(key, x, depth)) return 0;
  }
  return 0;
}

int compare(const Order& order, const std::byte* a, const std::byte* b, const Mappings& mappings) {
  for (size_t i = 0; i < order.count; ++i) {
    const int result = compare(order.keys[i], a, b, mappings);
    if (result != 0) return result;
  }
  return 0;
}

}  // namespace hoist::qsort
