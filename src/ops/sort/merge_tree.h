// A tree of losers (Knuth, The Art of Computer Programming, volume 3, 5.4.1) over readers: gives
// the smallest of their heads, the first reader's among equals, and replaces it by the reader's
// next line with one comparison per level.
//
// For heads that are not in order it does what GNU sort -m does with unsorted files: the smallest
// head comes next, whatever came before.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ops/sort/merge_order.h"
#include "ops/sort/reader.h"

namespace hoist::sort {

class MergeTree {
 public:
  // Reads the first line of every reader (at least one). The readers must outlive the tree.
  MergeTree(std::span<LineReader> readers, const MergeOrder& order)
      : readers_(readers), order_(order), lines_(readers.size()), losers_(readers.size()) {
    std::vector<Head> winners(2 * readers.size());
    for (uint32_t i = 0; i < readers.size(); ++i) winners[readers.size() + i] = read(i);
    for (size_t node = readers.size(); node-- > 1;) {
      const Head& a = winners[2 * node];
      const Head& b = winners[2 * node + 1];
      const bool first = before(a, b);
      winners[node] = first ? a : b;
      losers_[node] = first ? b : a;
    }
    winner_ = winners[1];
  }

  bool empty() const { return winner_.source == kNone; }
  // Whether a reader has failed: no line after that is of use.
  bool failed() const { return failed_; }
  Line line() const { return lines_[winner_.source]; }
  uint64_t code() const { return winner_.code; }
  uint32_t source() const { return winner_.source; }

  // Goes on to the next line.
  void advance() {
    const uint32_t source = winner_.source;
    Head head = read(source);
    for (size_t node = (source + readers_.size()) / 2; node > 0; node /= 2) {
      if (before(losers_[node], head)) std::swap(losers_[node], head);
    }
    winner_ = head;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Head {
    uint64_t code = UINT64_MAX;
    uint32_t source = kNone;  // kNone: a reader at its end, behind all lines
  };

  Head read(uint32_t source) {
    if (!readers_[source].next(lines_[source])) {
      failed_ |= !readers_[source].status();
      return {};
    }
    return {order_.code(lines_[source]), source};
  }

  bool before(const Head& a, const Head& b) const {
    if (a.code != b.code) return a.code < b.code;
    return before_with_equal_codes(a, b);
  }

  [[gnu::noinline]] bool before_with_equal_codes(const Head& a, const Head& b) const {
    if (a.source == kNone || b.source == kNone) return b.source == kNone;
    const int order = order_.compare_equal_codes(lines_[a.source], lines_[b.source]);
    return order != 0 ? order < 0 : a.source < b.source;
  }

  std::span<LineReader> readers_;
  const MergeOrder& order_;
  std::vector<Line> lines_;  // each reader's head
  std::vector<Head> losers_;
  Head winner_;
  bool failed_ = false;
};

}  // namespace hoist::sort
