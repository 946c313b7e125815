// HOIST_BENCH_TRANSFER="THREADS SLOTS SMALLEST LARGEST LOOK THROUGH_SLOT PUMPED ONE_STREAM
// PUMPED_BOTH_WAYS DIRECT" (sizes in KiB, LOOK in microseconds) tries another tuning of transfers
// in benchmarks.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "base/result.h"
#include "device/transfer.h"

namespace hoist::device {

// The defaults, where it is not set.
inline Result<TransferTuning> bench_tuning() {
  constexpr size_t kKibibyte = size_t{1} << 10;
  TransferTuning tuning;
  const char* const wanted = std::getenv("HOIST_BENCH_TRANSFER");
  if (wanted == nullptr) return tuning;
  std::istringstream words(wanted);
  int64_t look = tuning.look.count();
  words >> tuning.threads >> tuning.slots >> tuning.smallest_chunk >> tuning.largest_chunk >> look;
  if (!words || tuning.threads < 1 || tuning.slots < 1 || tuning.smallest_chunk < 1 ||
      tuning.smallest_chunk > tuning.largest_chunk) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("HOIST_BENCH_TRANSFER={}: THREADS SLOTS SMALLEST LARGEST LOOK "
                            "[THROUGH_SLOT [PUMPED [ONE_STREAM [PUMPED_BOTH_WAYS [DIRECT]]]]], "
                            "sizes in KiB",
                            wanted));
  }
  tuning.smallest_chunk *= kKibibyte;
  tuning.largest_chunk *= kKibibyte;
  tuning.look = std::chrono::microseconds(look);
  if (size_t size = 0; words >> size) tuning.through_slot = size * kKibibyte;
  if (uint64_t size = 0; words >> size) tuning.pumped = size * kKibibyte;
  if (bool one = false; words >> one) tuning.one_stream = one;
  if (uint64_t size = 0; words >> size) tuning.pumped_both_ways = size * kKibibyte;
  if (size_t size = 0; words >> size) tuning.direct = size * kKibibyte;
  return tuning;
}

}  // namespace hoist::device
