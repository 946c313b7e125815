// HOIST_BENCH_TRANSFER="THREADS PIECE CHUNK CHUNKS RING [LOOK [THROUGH_SLOT [PUMPED [STREAMS
// [DIRECT [DEMOTED]]]]]]" (sizes in KiB, LOOK in microseconds) tries another tuning of transfers in
// benchmarks.
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
  size_t ring = 0;
  words >> tuning.threads >> tuning.piece >> tuning.largest_chunk >> tuning.chunks >> ring;
  if (!words || tuning.threads < 1 || tuning.piece < 1 || tuning.piece > tuning.largest_chunk ||
      tuning.chunks < 1 || ring < tuning.piece) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("HOIST_BENCH_TRANSFER={}: THREADS PIECE CHUNK CHUNKS RING [LOOK "
                            "[THROUGH_SLOT [PUMPED [STREAMS [DIRECT [DEMOTED]]]]]], sizes in KiB",
                            wanted));
  }
  tuning.piece *= kKibibyte;
  tuning.largest_chunk *= kKibibyte;
  tuning.ring = ring * kKibibyte;
  if (int64_t look = 0; words >> look) tuning.look = std::chrono::microseconds(look);
  if (size_t size = 0; words >> size) tuning.through_slot = size * kKibibyte;
  if (uint64_t size = 0; words >> size) tuning.pumped = size * kKibibyte;
  if (int streams = 0; words >> streams) tuning.streams = streams;
  if (size_t size = 0; words >> size) tuning.direct = size * kKibibyte;
  if (size_t size = 0; words >> size) tuning.demoted = size * kKibibyte;
  return tuning;
}

}  // namespace hoist::device
