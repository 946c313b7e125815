// Sorting 128-bit numbers: Highway's vectorised quicksort where it pays to load it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::sort {

// The layout of hwy::uint128_t.
struct alignas(16) Entry {
  uint64_t lo;
  uint64_t hi;
};

inline bool below(const Entry& a, const Entry& b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

using SortFunction = void (*)(Entry* entries, size_t count);

// A function that sorts by (hi, lo), for `total` entries in all. From a quarter of a million on
// that is vqsort, out of libhoist_vqsort.so: loading it takes milliseconds, since Highway measures
// the clock when it is loaded, and saves about 70 ns an entry. Where it cannot be loaded, and for
// less, std::sort.
SortFunction sort_function(size_t total);

}  // namespace hoist::sort
