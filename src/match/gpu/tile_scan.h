// One lane's part of the scan of tiles of 16-bit symbols: a warp takes kGroupTiles tiles, a lane 8
// neighbouring patterns of one of them, whose symbols of a row are one load of 16 bytes. The same
// code runs on a GPU (scan.cu) and, lane by lane, on the CPU device.
#pragma once

#include <cstdint>
#include <cstring>

#include "match/gpu/bit_steps.h"
#include "match/gpu/scan_job.h"
#include "match/gpu/slot_table.h"

#ifdef __CUDACC__
#define HOIST_UNROLL _Pragma("unroll")
#else
#define HOIST_UNROLL
#endif

namespace hoist::match {

struct TileRow {  // 8 symbols, two a word
  uint32_t pairs[kLanePatterns / 2];
};

HOIST_HD inline TileRow load_tile_row(const uint16_t* at) {
  TileRow row;
#ifdef __CUDA_ARCH__
  const uint4 loaded = __ldg(reinterpret_cast<const uint4*>(at));
  row = {{loaded.x, loaded.y, loaded.z, loaded.w}};
#else
  std::memcpy(&row, at, sizeof row);
#endif
  return row;
}

// What a lane found: of its 8 patterns, which match, and all counts.
struct LaneMatches {
  uint32_t first_pattern;
  uint32_t lanes = 0;  // bit i: pattern first_pattern + i
  uint32_t raws[kLanePatterns];
};

template <typename Steps>
HOIST_HD bool any_may_match(const Steps* steps, uint32_t rows_left, int32_t limit) {
  bool any = false;
  HOIST_UNROLL
  for (uint32_t i = 0; i < kLanePatterns; ++i) {
    any = any || may_match(Steps::kCount, steps[i].raw(), rows_left, limit);
  }
  return any;
}

// Rows that are fetched together. Larger states leave fewer registers.
template <typename Table>
inline constexpr uint32_t kRowsAhead = sizeof(typename Table::Word) == 4 ? 4 : 2;

template <template <typename> typename Steps, typename Table>
HOIST_HD LaneMatches scan_tile_lane(const uint16_t* symbols, const ScanRun& run,
                                    uint32_t group_of_run, uint32_t lane, const Table& table,
                                    uint32_t state_length, int32_t limit) {
  constexpr uint32_t kLanesOfTile = kLanes / kLanePatterns;
  constexpr uint32_t kAhead = kRowsAhead<Table>;
  const uint32_t tile = group_of_run * kGroupTiles + lane / kLanesOfTile;
  const uint64_t place =
      uint64_t{tile} * kLanes + lane % kLanesOfTile * kLanePatterns;  // in the run
  LaneMatches found;
  found.first_pattern = run.first_pattern + static_cast<uint32_t>(place);
  if (place >= run.count) return found;
  const uint16_t* at = symbols + run.first_symbol + uint64_t{tile} * kLanes * run.length +
                       lane % kLanesOfTile * kLanePatterns;
  using S = Steps<Table>;
  S steps[kLanePatterns] = {S(state_length), S(state_length), S(state_length), S(state_length),
                            S(state_length), S(state_length), S(state_length), S(state_length)};
  for (uint32_t row = 0; row < run.length; row += kAhead, at += kAhead * kLanes) {
    TileRow ahead[kAhead];
    HOIST_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (row + i < run.length) ahead[i] = load_tile_row(at + i * kLanes);
    }
    HOIST_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (row + i >= run.length) continue;
      HOIST_UNROLL
      for (uint32_t pair = 0; pair < kLanePatterns / 2; ++pair) {
        steps[2 * pair].take(table.find(ahead[i].pairs[pair]));
        steps[2 * pair + 1].take(table.find(ahead[i].pairs[pair] >> 16));
      }
    }
    if (row + kAhead < run.length && !any_may_match(steps, run.length - row - kAhead, limit)) {
      return found;
    }
  }
  HOIST_UNROLL
  for (uint32_t i = 0; i < kLanePatterns; ++i) {
    found.raws[i] = steps[i].raw();
    const bool taken = place + i < run.count && is_match(S::kCount, found.raws[i], limit);
    found.lanes |= static_cast<uint32_t>(taken) << i;
  }
  return found;
}

}  // namespace hoist::match
