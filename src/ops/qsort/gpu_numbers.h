// Arrays of plain numbers sorted by a GPU: hoistd's, or under HOIST_GPU=inprocess one that the
// program opens.
//
// The array goes there, is sorted and comes back: 1 GiB of int takes 50 ms, an eighth of what the
// comparator's last pass over it takes. The connection to hoistd, its memory and the threads that
// copy are of one call: none is left when it returns.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/result.h"
#include "ops/qsort/call.h"
#include "ops/qsort/key.h"
#include "ops/qsort/workspace.h"

namespace hoist::qsort {

// Whether a GPU is measured to be ahead, or required (HOIST_GPU=require). Cheap for small arrays.
bool is_for_gpu(const Call& call, const Key& key);

// Sorts elements that are a number of 4 or 8 bytes; what did it, for the counters. Workspace buffer
// 0 gets the input; `input` says so once it is complete. On an error the array is as it was:
// `unavailable` where there is no GPU, `unsupported` where there is a NaN or a -0. Of threads at
// most `threads`; waits up to `wait` for a daemon that is to be started first.
Result<const char*> sort_numbers_on_gpu(const Call& call, const Key& key, Workspace& workspace,
                                        int threads, const std::byte*& input,
                                        std::chrono::milliseconds wait = {});

}  // namespace hoist::qsort
