// Longest common subsequences of a prepared sequence with all parts of a text that are as long as
// it, and with all beginnings and ends that are shorter: side by side in vector lanes
// (match/pairs/pair_kernels.h). Where beginnings and ends are all that there is, or the sequence is
// very long, those are counted by going through the text once from each side.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/fuzz/part_counter.h"
#include "match/fuzz/query_masks.h"
#include "match/pairs/pair_kernels.h"

namespace hoist::match {

class PartCounts {
 public:
  static constexpr size_t kMostAtOnce = 64 * kMaxWindowWords;  // symbols of a needle

  explicit PartCounts(const PairKernels& kernels = pair_kernels()) : kernels_(kernels) {}

  // `masks` are those of the needle, of 1 symbol at least and no more than the text has. What is
  // counted for very long ones is counted when it is asked for.
  void set(Symbols needle, const QueryMasks& masks, Symbols text);

  // The LCS with the part from `begin` to `end`: as long as the needle, or shorter at an end of the
  // text.
  uint64_t common(size_t begin, size_t end) {
    if (single_ && end != length_ && (begin != 0 || end == size_)) {
      return single_->common(begin, end);
    }
    // What lies outside the text matches nothing.
    return counts_[begin == 0 ? end - 1 : begin + size_ - 1];
  }
  // Whether nothing of the text is in the needle.
  bool is_empty() const { return is_empty_; }
  // Whether the needle may have the symbol at a place of the text.
  bool has(size_t place) const { return !single_ || single_->has(place); }
  // The most that a part in the text, as long as the needle, has in common; but for the last part.
  // The needle has kMostAtOnce symbols at most.
  uint64_t most_of_whole() const;

 private:
  template <typename Word>
  void count(const QueryMasks& masks, Symbols text);
  void count_long(const QueryMasks& masks, Symbols text);
  // Where there are at most so many parts besides the beginnings and ends.
  static constexpr size_t kFewParts = 8;
  void count_few(Symbols needle, const QueryMasks& masks, Symbols text);
  void count_ends(Symbols needle, const QueryMasks& masks, Symbols text);

  const PairKernels& kernels_;
  bool is_empty_ = false;
  size_t size_ = 0;    // of the needle
  size_t length_ = 0;  // of the text
  std::vector<std::byte> masks_;
  std::vector<std::byte> lanes_;
  std::vector<uint32_t> counts_;  // by the place behind each part's last symbol, less one
  std::vector<uint64_t> state_;
  std::vector<uint32_t> reversed_;
  QueryMasks reversed_masks_;
  std::optional<PartCounter> single_;
};

}  // namespace hoist::match
