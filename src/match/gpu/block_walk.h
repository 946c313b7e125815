// Ratcliff–Obershelp blocks by a warp a pair: the longest run of equal symbols of a window, then
// what lies before it in both sequences and what lies behind it in both (match/score/blocks.h).
//
// Runs lie on diagonals of the window, rows being positions of the pattern and columns those of the
// state. No diagonal needs another, so each lane walks every 32nd; among the longest runs that of
// the least row, then column, is taken. Nothing is kept between windows but those that wait, and
// since a walk goes on with the lower one of two and lets the higher one wait, at most 16 do: a
// lane can keep one each.
//
// The same code runs on a GPU (block_kernels.cuh) and, lane by lane, on the CPU device.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "match/gpu/scan_job.h"
#include "match/score/block_summary.h"

namespace hoist::match {

// Pairs of positions that the windows of one pair of sequences may have together, or the CPU walks
// them. It also bounds how long a warp is busy.
inline constexpr uint64_t kMostCells = 1 << 24;
inline constexpr uint32_t kMostWaiting = 16;  // windows

// Symbols of a pattern in a tile, or one after the other.
template <typename Symbol>
struct StridedSymbols {
  const Symbol* at;
  uint32_t stride;
  HOIST_HD uint32_t operator[](uint32_t i) const { return at[uint64_t{i} * stride]; }
};

struct BlockWindow {
  uint32_t row_begin, row_end, column_begin, column_end;

  HOIST_HD uint32_t rows() const { return row_end - row_begin; }
  HOIST_HD uint32_t columns() const { return column_end - column_begin; }
  HOIST_HD bool is_empty() const { return rows() == 0 || columns() == 0; }
  HOIST_HD uint64_t cells() const { return uint64_t{rows()} * columns(); }
  // In one word: positions are at most 65 535.
  HOIST_HD uint64_t packed() const {
    return uint64_t{row_begin} << 48 | uint64_t{row_end} << 32 | uint64_t{column_begin} << 16 |
           column_end;
  }
  HOIST_HD static BlockWindow unpack(uint64_t word) {
    return {static_cast<uint32_t>(word >> 48), static_cast<uint32_t>(word >> 32) & 0xFFFF,
            static_cast<uint32_t>(word >> 16) & 0xFFFF, static_cast<uint32_t>(word) & 0xFFFF};
  }
};

struct LongestRun {
  uint32_t size;
  uint32_t begin;  // row in the upper 16 bits, column in the lower ones

  HOIST_HD bool is_better_than(const LongestRun& other) const {
    return size > other.size || (size == other.size && begin < other.begin);
  }
};
inline constexpr LongestRun kNoRun = {0, 0xFFFF'FFFF};

// The longest run of the lane's diagonals; the window is not empty.
template <typename Symbol>
HOIST_HD LongestRun longest_run_of_lane(const StridedSymbols<Symbol>& pattern,
                                        const uint32_t* state, const BlockWindow& window,
                                        uint32_t lane) {
  LongestRun best = kNoRun;
  const uint32_t last = window.rows() - 1;  // row in which the first diagonal begins
  for (uint32_t d = lane; d < last + window.columns(); d += kLanes) {
    uint32_t row = window.row_begin + (d < last ? last - d : 0);
    uint32_t column = window.column_begin + (d < last ? 0 : d - last);
    uint32_t size = 0;
    for (; row < window.row_end && column < window.column_end; ++row, ++column) {
      size = pattern[row] == state[column] ? size + 1 : 0;
      if (size == 0 || size < best.size) continue;
      const LongestRun run = {size, (row + 1 - size) << 16 | (column + 1 - size)};
      if (run.is_better_than(best)) best = run;
    }
  }
  return best;
}

// Where a walk is, all lanes alike.
class BlockWalk {
 public:
  // Neither length is 0.
  HOIST_HD BlockWalk(uint32_t rows, uint32_t columns) { enter({0, rows, 0, columns}); }

  // The next one to look at; empty where one that waits is next.
  HOIST_HD const BlockWindow& window() const { return window_; }
  HOIST_HD void enter(const BlockWindow& window) {
    window_ = window;
    cells_ += window.cells();
  }
  HOIST_HD bool is_too_long() const { return cells_ > kMostCells; }

  // Takes the longest run of window(), which so becomes the next one. Gives one that is to wait, or
  // an empty one.
  HOIST_HD BlockWindow take(const LongestRun& run) {
    const BlockWindow all = window_;
    constexpr BlockWindow none = {0, 0, 0, 0};
    window_ = none;
    if (run.size == 0) return none;
    const uint32_t row = run.begin >> 16;
    const uint32_t column = run.begin & 0xFFFF;
    add(row, run.size);
    const BlockWindow before = {all.row_begin, row, all.column_begin, column};
    const BlockWindow behind = {row + run.size, all.row_end, column + run.size, all.column_end};
    const bool behind_is_next =
        before.is_empty() || (!behind.is_empty() && behind.rows() < before.rows());
    enter(behind_is_next ? behind : before);
    const BlockWindow other = behind_is_next ? before : behind;
    return other.is_empty() ? none : other;
  }

  // `before` is BlockSummary's.
  HOIST_HD BlockSummary summary(uint32_t before) const {
    return {static_cast<uint16_t>(blocks_), static_cast<uint16_t>(matches_),
            static_cast<uint16_t>(begin()), static_cast<uint16_t>(end_),
            static_cast<uint16_t>(before),  1};
  }
  // Where the first block begins; 0 without any.
  HOIST_HD uint32_t begin() const { return blocks_ == 0 ? 0 : begin_; }

 private:
  HOIST_HD void add(uint32_t row, uint32_t size) {
    ++blocks_;
    matches_ += size;
    begin_ = row < begin_ ? row : begin_;
    end_ = row + size > end_ ? row + size : end_;
  }

  BlockWindow window_ = {0, 0, 0, 0};
  uint64_t cells_ = 0;
  uint32_t blocks_ = 0;
  uint32_t matches_ = 0;
  uint32_t begin_ = 0xFFFF'FFFF;
  uint32_t end_ = 0;
};

// The lane's part of BlockSummary::before: every 32nd position before `begin`.
template <typename Symbol>
HOIST_HD uint32_t last_equal_of_lane(const StridedSymbols<Symbol>& pattern, uint32_t begin,
                                     uint32_t lane) {
  uint32_t before = 0;
  for (uint32_t i = lane; i < begin; i += kLanes) {
    if (pattern[i] == pattern[begin]) before = i + 1;
  }
  return before;
}

}  // namespace hoist::match
