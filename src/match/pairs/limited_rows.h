// Counts of sequences with all of a batch (pair_batches.h) up to limits, one by one, where that
// takes less time than in lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "match/pairs/limited_counts.h"
#include "match/pairs/pair_batches.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {

// For one thread and one batch of long lanes.
class LimitedRows {
 public:
  // How many edits apart a sequence of the lanes and another one of these lengths may be.
  using MostEdits = std::function<int64_t(uint32_t lane, uint32_t other)>;

  LimitedRows(PairCount count, const Batch& batch, const NumberedList& lanes,
              const SymbolNumbers& numbers, const MostEdits& most_edits, LimitedCounts& limited)
      : count_(count),
        batch_(batch),
        lanes_(lanes),
        numbers_(numbers),
        most_edits_(most_edits),
        limited_(limited),
        fronts_(batch.members.size()) {}

  // Makes the row that a kernel would give; false where the kernel takes less time.
  bool count(const Sequence& other, std::byte* row);

 private:
  static constexpr size_t kLanes = kRowBytes / sizeof(uint64_t);

  void make_fronts();
  void make_plans(uint32_t length);
  // Whether it decides enough pairs.
  bool look_first();
  void set_lane(size_t i) {
    const uint32_t member = batch_.members[i];
    lane_.set(lanes_.sequence(member), lanes_[member].data());
  }

  PairCount count_;
  const Batch& batch_;
  const NumberedList& lanes_;
  const SymbolNumbers& numbers_;
  const MostEdits& most_edits_;
  LimitedCounts& limited_;
  // What is looked at first of each lane, as bytes.
  std::vector<Sequence> fronts_;
  std::vector<std::vector<uint8_t>> bytes_;
  FirstLooks looks_;
  NumberedSequence other_;
  NumberedSequence lane_;
  // With others of this length, for each length of the lanes, and which one each lane has.
  uint32_t length_ = UINT32_MAX;
  std::vector<LimitedCounts::Plan> plans_;
  std::array<uint8_t, kLanes> plan_of_;
  uint64_t time_ = 0;  // at worst
  uint64_t lanes_time_ = 0;
  uint64_t looks_time_ = 0;
  std::array<bool, kLanes> is_far_;
};

}  // namespace hoist::match
