// qsort as an operation of placement: what `hoist tune` measures.
#pragma once

#include "placement/operation.h"

namespace hoist::qsort {

// Variants "int32" and "int64", implementations "cpu-all" and "cuda" (as programs reach it, so
// through hoistd unless HOIST_GPU=inprocess): the sort of an array of numbers, without what asks
// the comparator, which is the same for both. Measuring is `unavailable` without a GPU.
placement::Operation operation();

}  // namespace hoist::qsort
