// What a scan of a batch of states sends to a device: runs of patterns, limits, tables of symbols,
// laid out in one piece of memory.
//
//   const ScanPlan plan(runs, is_wide, states, Scorer::kato);
//   copy plan.bytes() to `base` on the device
//   for (const TileScanJob& job : plan.tile_jobs(base, symbols, output)) enqueue(stream, job);
//   for (const SequenceScanJob& job : plan.sequence_jobs(base, symbols, output, carries)) …
//
// States of at most 64 symbols of 16 bits scan tiles with tables in shared memory; what lies one by
// one, longer states and symbols of 32 bits take the general way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "match/gpu/scan_job.h"
#include "match/score/scorer.h"

namespace hoist::match {

Count count_of(Scorer scorer);
Base base_of(Scorer scorer);
// What a pattern of n symbols must count to reach the threshold: at least so many symbols in
// common, or at most so many edits; kNoLcs or kNoDistance where none can.
int32_t limit_of(Scorer scorer, uint32_t n, uint32_t m, double threshold);

struct ScanState {
  std::vector<uint32_t> ids;  // dense ids, kAbsentId for symbols that the segment does not have
  double threshold;
};

class ScanPlan {
 public:
  // `runs` in ascending order of their patterns, their groups not counted yet. No state is empty;
  // at most kMostStates.
  ScanPlan(std::span<const ScanRun> runs, bool is_wide, std::span<const ScanState> states,
           Scorer scorer);

  std::span<const std::byte> bytes() const { return bytes_; }
  // Scratch that the scans share, one after the other; 0 where they need none. More than `most`
  // only where one block of threads takes more.
  uint64_t carry_bytes(uint64_t most) const;

  // `base` is where bytes() lie on the device, aligned to 8 bytes.
  std::vector<TileScanJob> tile_jobs(const std::byte* base, const void* symbols,
                                     const ScanOutput& output) const;
  std::vector<SequenceScanJob> sequence_jobs(const std::byte* base, const void* symbols,
                                             const ScanOutput& output,
                                             std::span<uint8_t> carries) const;

 private:
  // Places are offsets into bytes_.
  struct PlacedRuns {
    uint64_t runs = 0;
    uint64_t limits = 0;
    uint32_t count = 0;
    uint32_t groups = 0;
  };
  struct TileScan {
    PlacedRuns runs;
    uint64_t states;
    uint32_t state_count;
    SlotWidth width;
    uint32_t slot_bits;
    uint64_t tables;
  };
  struct SequenceScan {
    PlacedRuns runs;
    uint64_t states;
    uint32_t state_count;
    uint64_t strips;
    uint32_t carry_rows;  // of the longest pattern; 0: no state has several strips
  };
  struct SlotTables;

  template <typename T>
  uint64_t place(std::span<const T> values);
  template <typename Filter>
  PlacedRuns place_runs(const Filter& filter, std::span<const uint32_t> states,
                        uint32_t patterns_of_group);
  const std::vector<int32_t>& limits(const ScanState& state);
  void plan_tiles(std::span<const SlotTables> tables, SlotWidth width);
  template <typename Filter>
  void plan_sequences(const Filter& filter, std::span<const uint32_t> states);
  static uint32_t threads_of(const SequenceScan& scan, uint64_t carry_bytes);
  ScanRuns bind(const PlacedRuns& runs, const std::byte* base) const;

  std::span<const ScanRun> runs_;
  std::span<const ScanState> states_;
  Scorer scorer_;
  bool is_wide_;
  std::map<std::pair<size_t, double>, std::vector<int32_t>> limits_;  // by length and threshold
  std::vector<std::byte> bytes_;
  std::vector<TileScan> tile_scans_;
  std::vector<SequenceScan> sequence_scans_;
};

}  // namespace hoist::match
