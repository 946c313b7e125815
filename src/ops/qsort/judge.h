// The comparator's word on a sorted array.
#pragma once

#include <cstddef>

#include "ops/qsort/call.h"
#include "ops/qsort/key.h"
#include "ops/qsort/sorter.h"

namespace hoist::qsort {

// Whether the array is what a stable sort by the comparator makes of the input: every pair of
// neighbours compares below 0, or equals 0 and keeps the order of the input. Runs of elements that
// the keys leave equal and the comparator does not are sorted by `original`, in place.
// `original_is_stable`: whether the C library's own sort would keep the order of equal elements;
// where it would not, only arrays without such elements are accepted, since nothing says what it
// would make of them.
bool judge(const Call& call, const Order& order, const Mappings& mappings, const Sorted& sorted,
           hoist_qsort_r* original, bool original_is_stable);

}  // namespace hoist::qsort
