// qsort as an operation of placement: what `hoist tune` measures, and what a call asks.
#pragma once

#include <cstddef>

#include "placement/operation.h"

namespace hoist::qsort {

// Variants "int32" and "int64", implementations "cpu-all" and "cuda" (as programs reach it, so
// through hoistd unless HOIST_GPU=inprocess): the sort of an array of numbers, without what asks
// the comparator, which is the same for both. Measuring is `unavailable` without a GPU.
placement::Operation operation();

inline constexpr size_t kOnGpu = 1;  // the index of "cuda"

// What placement::choose() takes for numbers of `size` bytes, 4 or 8.
const placement::VariantHandle& variant_of(size_t size);

}  // namespace hoist::qsort
