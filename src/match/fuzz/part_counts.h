// Longest common subsequences of a prepared sequence, the needle, with parts of a text: with all
// beginnings and ends that are shorter than it, and with those in the text that are as long as it.
//
// Beginnings and ends are counted by going through the text once from each side. Whole parts are
// looked at as they may be the best (a count changes by one at most from place to place) and, where
// that leaves too many, all at once, side by side in vector lanes (match/pairs/pair_kernels.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "match/fuzz/query_masks.h"
#include "match/pairs/pair_kernels.h"

namespace hoist::match {

class PartCounts {
 public:
  explicit PartCounts(const PairKernels& kernels = pair_kernels()) : kernels_(kernels) {}

  // `masks` are those of the needle, of 1 symbol at least and no more than the text has. All three
  // must outlive what is asked for next.
  void set(Symbols needle, const QueryMasks& masks, Symbols text);

  // The LCS with the part from `begin` to `end`: as long as the needle, or shorter at an end of the
  // text.
  uint64_t common(size_t begin, size_t end) const;
  // Whether nothing of the text is in the needle. Then nothing else may be asked for but has().
  bool is_empty() const { return is_empty_; }
  // Whether the needle has the symbol at a place of the text.
  bool has(size_t place) const;
  // The most that a part in the text, as long as the needle, has in common, but for the last part;
  // any number below `least` where that is less.
  uint64_t most_of_whole(uint64_t least = 0);

 private:
  size_t parts() const { return size_ - 1 + length_; }
  bool contains_needle() const;
  // Nothing where too many parts may be the best.
  std::optional<uint64_t> search(uint64_t least);
  bool fits_lanes() const { return masks_->words() <= kMaxWindowWords; }
  void count_all();
  template <typename Word>
  void count_in();
  void count_long();
  void count_ends();

  const PairKernels& kernels_;
  Symbols needle_;
  const QueryMasks* masks_ = nullptr;
  Symbols text_;
  size_t size_ = 0;    // of the needle
  size_t length_ = 0;  // of the text
  bool is_empty_ = false;
  bool has_all_ = false;          // counted, or beginnings and ends only
  std::vector<uint32_t> counts_;  // by the place behind each part's last symbol, less one
  std::vector<uint32_t> seen_;    // of whole parts, by place
  std::vector<std::byte> lane_masks_;
  std::vector<std::byte> lanes_;
  std::vector<uint64_t> state_;
  std::vector<uint32_t> reversed_;
  QueryMasks reversed_masks_;
};

}  // namespace hoist::match
