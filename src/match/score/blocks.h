// Matching blocks after J. W. Ratcliff and J. A. Obershelp: the longest run of equal symbols, then
// the same to its left and to its right. Exactly the blocks of Python's difflib.SequenceMatcher
// (CPython 3.11), without and with `autojunk`, without its terminator.
//
// Among the longest runs of a window the one that starts first in `a` is taken, among those the one
// that starts first in `b`. Blocks come in ascending order and never touch in both sequences.
//
//   const BlockMatcher matcher(state);
//   BlockMatcher::Scratch scratch;
//   matcher.find(pattern, blocks, scratch);
//
// Three ways with one result. With at most 64 symbols in `b`, a row of matches is a word, and those
// in which a run of k ends are those of the row whose left upper neighbour ends one of k - 1: a
// shift and an AND for each k. Else, where few pairs of positions match, all of them are listed
// once, each with the length of the run of equal symbols that ends in it; a run inside a window is
// then the shorter of that and of what the window's corner leaves, so that no window needs the
// symbols again. Else each window walks its rows as difflib does.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "match/score/column_words.h"
#include "match/score/symbol_map.h"

namespace hoist::match {

// a[a_begin..a_begin + size) equals b[b_begin..b_begin + size).
struct Block {
  uint32_t a;
  uint32_t b;
  uint32_t size;

  bool operator==(const Block&) const = default;
};

// Sequences of at most 2^31 symbols. Thread-safe; each thread needs its own scratch.
class BlockMatcher {
 public:
  struct Pair {  // a[i] == b[j]
    uint32_t i;
    uint32_t j;
    uint32_t run;  // equal symbols that end here
  };
  struct Window {
    uint32_t a_begin, a_end, b_begin, b_end;
  };
  struct Run {  // one that ends in column j of the row that is `row`
    uint32_t row;
    uint32_t length;
  };
  struct Row {  // of a, with the columns that match it
    uint32_t i;
    uint64_t columns;
  };
  // Memory that calls reuse.
  struct Scratch {
    std::vector<uint32_t> numbers;  // of the symbols of a
    std::vector<Pair> pairs;
    std::vector<uint32_t> rows;  // first pair of each row
    std::vector<Run> runs;
    std::vector<Row> matching;  // rows, none without a match
    std::vector<Window> windows;
  };

  // How to find them: the fastest way, or, for tests, one of the other two.
  enum class Way { fastest, listed, walked };

  // `b` must outlive the matcher.
  explicit BlockMatcher(std::span<const uint32_t> b, bool autojunk = false);

  // Replaces `blocks`. Time is cubic at worst, as difflib's: where `stop` is requested, it
  // returns false, with `blocks` undefined.
  bool find(std::span<const uint32_t> a, std::vector<Block>& blocks, Scratch& scratch,
            const std::stop_token& stop = {}, Way way = Way::fastest) const;

 private:
  std::span<const uint32_t> positions(uint32_t number) const {
    if (number == SymbolMap::kAbsent) return {};
    return {positions_.data() + begins_[number], begins_[number + 1] - begins_[number]};
  }
  void find_in_words(std::span<const uint32_t> a, std::vector<Block>& blocks,
                     Scratch& scratch) const;
  void list_pairs(Scratch& scratch) const;
  Block longest_listed(const Window& window, const Scratch& scratch) const;
  bool longest_walked(const Window& window, Scratch& scratch, const std::stop_token& stop,
                      Block& best) const;
  void extend(std::span<const uint32_t> a, const Window& window, Block& block) const;

  std::span<const uint32_t> b_;
  SymbolMap symbols_;
  std::vector<uint32_t> begins_;     // by symbol number
  std::vector<uint32_t> positions_;  // ascending for each symbol; none for popular ones
  ColumnWords columns_;              // the same as words, where they fit
  bool has_popular_ = false;
};

}  // namespace hoist::match
