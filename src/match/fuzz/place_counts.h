// Sequences compared place by place, as they lie in memory.
#pragma once

#include <cstdint>

#include "match/pairs/sequence_list.h"

namespace hoist::match {

// Places that differ; those that only one has differ, too.
uint64_t hamming_distance(const Sequence& a, const Sequence& b);

uint64_t common_prefix_of(const Sequence& a, const Sequence& b);
uint64_t common_suffix_of(const Sequence& a, const Sequence& b);

// The same. Mostly the first symbols that are compared tell: those are compared in line.
inline uint64_t common_prefix(const Sequence& a, const Sequence& b) {
  const bool are_bytes = a.width == 1 && b.width == 1 && a.length != 0 && b.length != 0;
  const auto first = [](const Sequence& of) { return *static_cast<const uint8_t*>(of.symbols); };
  return are_bytes && first(a) != first(b) ? 0 : common_prefix_of(a, b);
}

inline uint64_t common_suffix(const Sequence& a, const Sequence& b) {
  const bool are_bytes = a.width == 1 && b.width == 1 && a.length != 0 && b.length != 0;
  const auto last = [](const Sequence& of) {
    return static_cast<const uint8_t*>(of.symbols)[of.length - 1];
  };
  return are_bytes && last(a) != last(b) ? 0 : common_suffix_of(a, b);
}

}  // namespace hoist::match
