// A tree of losers over readers whose lines are in the order of their bytes, with offset-value
// codes (Conner, "Offset value coding", IBM Technical Disclosure Bulletin 1977; Do and Graefe,
// "Robust and efficient sorting with offset-value coding", TODS 2023).
//
// Sorted lines next to each other begin alike, so comparing them from the start again and again is
// most of the work of a merge. A line's code instead says how it differs from the line that was
// merged last: the column (of 6 bytes) of the first difference, and the line's bytes there.
//
//   code = [8190 - column : 13 bits][the column's bytes : 48][how many of them exist : 3]
//
// The smaller code belongs to the smaller line, and the loser's code also holds relative to the
// winner. Only equal codes need the lines, from the next column on. Code 0 is a line equal to the
// last one. Beyond column 8187 the bytes are compared instead (kDeep).
//
// Lines out of order within one reader are noticed; what was merged since is then of no use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "ops/sort/codes.h"
#include "ops/sort/reader.h"

namespace hoist::sort {

// Whether lines are compared as strings of bytes (in one direction or the other), and nothing else.
inline bool orders_by_bytes(const Coder& coder) {
  return coder.comparator().options().keys.empty() && coder.is_plain_text(coder.first_stage());
}

inline uint64_t load_8_bytes(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// How many bytes the lines have in common at their start, the first `from` known to be. Lines of a
// LineReader: 8 bytes behind their end can be read.
inline size_t common_prefix(Line a, Line b, size_t from = 0) {
  const size_t limit = std::min(a.length, b.length);
  for (size_t i = from; i < limit; i += 8) {
    const uint64_t difference = load_8_bytes(a.text + i) ^ load_8_bytes(b.text + i);
    if (difference != 0) {
      return std::min(limit, i + static_cast<size_t>(__builtin_ctzll(difference)) / 8);
    }
  }
  return limit;
}

// The order of lines that agree in exactly their first `common` bytes.
inline int compare_after(size_t common, Line a, Line b) {
  if (common == a.length || common == b.length) {
    return (a.length > b.length) - (a.length < b.length);
  }
  return static_cast<unsigned char>(a.text[common]) < static_cast<unsigned char>(b.text[common])
             ? -1
             : 1;
}

class TextMergeTree {
 public:
  // Reads the first line of every reader (at least one). The readers must outlive the tree.
  TextMergeTree(std::span<LineReader> readers, bool reverse)
      : readers_(readers),
        flip_(reverse ? kValueMask : 0),
        direction_(reverse ? -1 : 1),
        lines_(readers.size()),
        losers_(readers.size()) {
    std::vector<Head> winners(2 * readers.size());
    for (uint32_t i = 0; i < readers.size(); ++i) {
      winners[readers.size() + i] = {readers[i].next(lines_[i]) ? code_at(0, lines_[i]) : kEnd, i};
    }
    for (size_t node = readers.size(); node-- > 1;) {
      winners[node] = winners[2 * node];
      losers_[node] = winners[2 * node + 1];
      play(losers_[node], winners[node]);
    }
    winner_ = winners[1];
  }

  bool empty() const { return winner_.code == kEnd; }
  // A reader's lines were found out of order.
  bool disordered() const { return disordered_; }
  Line line() const { return lines_[winner_.source]; }
  uint32_t source() const { return winner_.source; }
  // Whether the line equals the one before it.
  bool repeats() const { return winner_.code == kEqual; }

  // Goes on to the next line.
  void advance() {
    Head head{next_code(winner_.source), winner_.source};
    for (size_t node = (head.source + readers_.size()) / 2; node > 0; node /= 2) {
      play(losers_[node], head);
    }
    winner_ = head;
  }

 private:
  static constexpr size_t kColumn = 6;  // bytes
  static constexpr int kValueBits = 51;
  static constexpr uint64_t kValueMask = (uint64_t{1} << kValueBits) - 1;
  static constexpr uint64_t kFirstColumn = 8190;  // as in a code; 8191 is left for kEnd
  static constexpr uint64_t kLastColumn = 8187;
  static constexpr uint64_t kEqual = 0;
  static constexpr uint64_t kDeep = uint64_t{1} << kValueBits;
  static constexpr uint64_t kEnd = UINT64_MAX;

  struct Head {
    uint64_t code = kEnd;
    uint32_t source = 0;
  };

  // The code of a line that first differs from the last one in `column`.
  uint64_t code_at(size_t column, Line line) const {
    if (column > kLastColumn) return kDeep;
    const size_t left = line.length - column * kColumn;
    uint64_t bytes = __builtin_bswap64(load_8_bytes(line.text + column * kColumn)) >> 16;
    if (left < kColumn) bytes &= ~(UINT64_MAX >> 16 >> (8 * left));
    const uint64_t value = bytes << 3 | std::min(left, kColumn);
    return (kFirstColumn - column) << kValueBits | (value ^ flip_);
  }

  uint64_t next_code(uint32_t source) {
    const Line before = lines_[source];
    Line& line = lines_[source];
    if (!readers_[source].next(line)) return kEnd;
    const size_t common = common_prefix(before, line);
    if (common == before.length && common == line.length) return kEqual;
    if (compare_after(common, before, line) != -direction_) disordered_ = true;
    return code_at(common / kColumn, line);
  }

  // The smaller goes to `winner`, the other to `loser`.
  void play(Head& loser, Head& winner) const {
    if (loser.code == winner.code) return play_equal_codes(loser, winner);
    if (loser.code < winner.code) std::swap(loser, winner);
  }

  [[gnu::noinline]] void play_equal_codes(Head& loser, Head& winner) const {
    const uint64_t code = loser.code;
    if (code == kEnd) return;
    const Line a = lines_[loser.source];
    const Line b = lines_[winner.source];
    int order = 0;
    uint64_t loser_code = kEqual;
    if (code != kEqual) {
      const size_t same = code == kDeep ? kLastColumn + 1 : kFirstColumn - (code >> kValueBits) + 1;
      const size_t common = common_prefix(a, b, std::min(same * kColumn, a.length));
      order = common == a.length && common == b.length ? 0 : compare_after(common, a, b);
      order *= direction_;
      if (order != 0) loser_code = code_at(common / kColumn, order < 0 ? b : a);
    }
    if (order < 0 || (order == 0 && loser.source < winner.source)) std::swap(loser, winner);
    loser.code = loser_code;
    winner.code = code;
  }

  std::span<LineReader> readers_;
  const uint64_t flip_;  // all value bits where the order is reversed
  const int direction_;
  std::vector<Line> lines_;  // each reader's head
  std::vector<Head> losers_;
  Head winner_;
  bool disordered_ = false;
};

}  // namespace hoist::sort
