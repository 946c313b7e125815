// How count_pairs() lays out the sequences that go into lanes: batches of like length, and for each
// a table of masks (pair_kernels.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/pairs/pair_kernels.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {

inline constexpr size_t kMaxTableBytes = size_t{4} << 20;
inline constexpr size_t kLongLanes = 4;  // the kind of lanes of several words

// Sequences that go through one table of masks, of like length.
struct Batch {
  std::span<const uint32_t> members;  // ascending lengths
  size_t kind;                        // of lanes, or kPairwise
  size_t words;
  size_t row;  // which of kRowWidths
};
inline constexpr size_t kPairwise = 5;

inline size_t kind_of(uint32_t length) {
  if (length <= 8) return 0;
  if (length <= 16) return 1;
  if (length <= 32) return 2;
  if (length <= 64) return 3;
  return length <= 64 * kMaxWords ? kLongLanes : kPairwise;
}

inline size_t lane_bytes(size_t kind) { return size_t{1} << std::min<size_t>(kind, 3); }

// `by_length` has the sequences in ascending order of their lengths, with `distinct` distinct
// symbols.
std::vector<Batch> batches_of(const NumberedList& lanes, std::span<const uint32_t> by_length,
                              uint32_t distinct);

// The masks of one batch. A symbol that no lane has is in group 0, which is zero; group 1 has all
// positions.
class MaskTable {
 public:
  explicit MaskTable(uint32_t distinct) : groups_(distinct, 0) {}

  void fill(const Batch& batch, const NumberedList& lanes) {
    for (const uint32_t symbol : used_) groups_[symbol] = 0;
    used_.clear();
    const size_t row_bytes = kRowWidths[batch.row];
    group_bytes_ = batch.words * row_bytes;
    group_count_ = 0;
    lines_.clear();
    add_group();
    add_group();
    for (size_t lane = 0; lane < batch.members.size(); ++lane) {
      const std::span<const uint32_t> sequence = lanes[batch.members[lane]];
      const size_t bytes = lane_bytes(batch.kind);
      for (size_t i = 0; i < sequence.size(); ++i) {
        uint32_t& group = groups_[sequence[i]];
        if (group == 0) {
          group = add_group();
          used_.push_back(sequence[i]);
        }
        const size_t at = i / 64 * row_bytes + lane * bytes + i % 64 / 8;
        const auto bit = static_cast<std::byte>(1u << (i % 8));
        masks()[group_bytes_ * group + at] |= bit;
        masks()[group_bytes_ + at] |= bit;
      }
    }
  }

  // By symbol.
  const uint32_t* groups() const { return groups_.data(); }
  PairBatch view(size_t words) { return {masks(), masks() + group_bytes_, words}; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  std::byte* masks() { return lines_.front().bytes; }
  uint32_t add_group() {
    const uint64_t bytes = uint64_t{++group_count_} * group_bytes_;
    lines_.resize((bytes + sizeof(Line) - 1) / sizeof(Line), Line{});
    return group_count_ - 1;
  }

  std::vector<uint32_t> groups_;  // by symbol
  std::vector<uint32_t> used_;    // symbols that have one
  std::vector<Line> lines_;
  size_t group_bytes_ = 0;
  uint32_t group_count_ = 0;
};

}  // namespace hoist::match
