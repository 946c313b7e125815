// One lane's part of the scan of tiles of 16-bit symbols: a warp takes kGroupTiles tiles, a lane 8
// neighbouring patterns of one of them, whose symbols of a row are one load of 16 bytes. The same
// code runs on a GPU (scan.cu) and, lane by lane, on the CPU device.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.h"
#include "match/gpu/bit_steps.h"
#include "match/gpu/scan_job.h"
#include "match/gpu/slot_table.h"

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

// Eight patterns, step by step.
template <template <typename> typename Steps, typename Table>
class LaneSteps {
 public:
  using Step = Steps<Table>;

  HOIST_HD explicit LaneSteps(uint32_t state_length)
      : steps_{Step(state_length), Step(state_length), Step(state_length), Step(state_length),
               Step(state_length), Step(state_length), Step(state_length), Step(state_length)} {}

  HOIST_HD void take(const Table& table, const TileRow& row) {
    HOIST_UNROLL
    for (uint32_t pair = 0; pair < kLanePatterns / 2; ++pair) {
      steps_[2 * pair].take(table, first_symbol(row.pairs[pair]));
      steps_[2 * pair + 1].take(table, second_symbol(row.pairs[pair]));
    }
  }
  HOIST_HD uint32_t raw(uint32_t pattern) const { return steps_[pattern].raw(); }
  // Whether so many more rows can make any of them match.
  HOIST_HD bool any_may_match(uint32_t rows, int32_t limit) const {
    uint32_t best = raw(0);
    HOIST_UNROLL
    for (uint32_t i = 1; i < kLanePatterns; ++i) {
      const uint32_t other = raw(i);
      best = (Step::kCount == Count::lcs) == (other > best) ? other : best;
    }
    return may_match(Step::kCount, best, rows, limit);
  }

 private:
  Step steps_[kLanePatterns];
};

// Whether any lane of the warp says so; on the host a lane is alone.
HOIST_HD inline bool any_lane(bool value) {
#ifdef __CUDA_ARCH__
  return __any_sync(0xFFFF'FFFFu, value) != 0;
#else
  return value;
#endif
}

// Matches that a pattern must already have, for the rest of its rows to be worth a question: below
// that one of eight mostly has them.
inline constexpr int32_t kTellingMatches = 3;

HOIST_HD constexpr bool is_telling(Count count, uint32_t length, uint32_t left, int32_t limit) {
  if (left == 0) return false;
  if (count == Count::lcs) return limit - static_cast<int32_t>(left) >= kTellingMatches;
  return 2 * left < length;
}

// Rows that are fetched together. Larger states leave registers for fewer, and take so long that
// the next ones are fetched meanwhile; with small ones other warps have work enough.
template <typename Table>
inline constexpr bool kIsLarge = sizeof(typename Table::Word) > sizeof(uint32_t);
template <typename Table>
inline constexpr uint32_t kRowsAhead = kIsLarge<Table> ? 2 : 3;

// For all lanes of a warp together, which go on while one of them does.
template <template <typename> typename Steps, typename Table>
HOIST_HD LaneMatches scan_tile_lane(const uint16_t* symbols, const ScanRun& run,
                                    uint32_t group_of_run, uint32_t lane, const Table& table,
                                    uint32_t state_length, int32_t limit) {
  constexpr uint32_t kLanesOfTile = kLanes / kLanePatterns;
  constexpr uint32_t kAhead = kRowsAhead<Table>;
  constexpr bool kPipelined = kIsLarge<Table>;
  constexpr Count kCount = Steps<Table>::kCount;
  const uint32_t tile = group_of_run * kGroupTiles + lane / kLanesOfTile;
  const uint64_t place =
      uint64_t{tile} * kLanes + lane % kLanesOfTile * kLanePatterns;  // in the run
  LaneMatches found;
  found.first_pattern = run.first_pattern + static_cast<uint32_t>(place);
  bool is_active = place < run.count;
  const uint16_t* at = symbols + run.first_symbol + uint64_t{tile} * kLanes * run.length +
                       lane % kLanesOfTile * kLanePatterns;
  LaneSteps<Steps, Table> steps(state_length);
  uint32_t left = run.length;
  TileRow rows[kAhead] = {};
  const auto fetch = [&](uint32_t count) {
    HOIST_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (is_active && i < count) rows[i] = load_tile_row(at + i * kLanes);
    }
    at += kAhead * kLanes;
  };
  if (kPipelined) fetch(left);
  while (left != 0) {
    if (!kPipelined) fetch(left);
    TileRow now[kAhead];
    HOIST_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i) now[i] = rows[i];
    const uint32_t taken = left < kAhead ? left : kAhead;
    left -= taken;
    if (kPipelined) fetch(left);  // on their way while what is here is worked on
    HOIST_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (i < taken) steps.take(table, now[i]);
    }
    if (is_telling(kCount, run.length, left, limit)) {
      is_active = is_active && steps.any_may_match(left, limit);
      if (!any_lane(is_active)) return found;
    }
  }
  if (!is_active) return found;
  HOIST_UNROLL
  for (uint32_t i = 0; i < kLanePatterns; ++i) {
    found.raws[i] = steps.raw(i);
    const bool is_taken = place + i < run.count && is_match(kCount, found.raws[i], limit);
    found.lanes |= static_cast<uint32_t>(is_taken) << i;
  }
  return found;
}

}  // namespace hoist::match
