// How much lines resemble one line, the pattern: a normalized similarity of their code points by
// the scorers of pairs, whose cut-offs bound the work (match/pairs/score_matrix.h).
//
//   const LineScorer scorer("a pattern", *line_scorer_named("indel"), false);
//   scorer.find(block, ends, 0.7, hits);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "match/pairs/pair_scorer.h"

namespace hoist::match {

// "indel", "levenshtein", "lcs": the normalized similarity.
std::optional<PairScorer> line_scorer_named(std::string_view name);

struct LineHit {
  uint32_t line;  // of the block
  double score;   // 0..1
};

struct ByteRange {
  size_t begin;
  size_t end;
};

// Thread-safe.
class LineScorer {
 public:
  LineScorer(std::string_view pattern, const PairScorer& scorer, bool ignore_case);

  // Replaces `hits` by the lines of a block (match/lines/line_blocks.h) whose score is `threshold`
  // or more, in their order.
  void find(std::string_view block, const std::vector<uint32_t>& ends, double threshold,
            std::vector<LineHit>& hits) const;

  // The bytes of a line that it has in common with the pattern: matching blocks as Python's difflib
  // finds them. None where either has more than kMostShown characters.
  static constexpr size_t kMostShown = 4096;
  std::vector<ByteRange> common_parts(std::string_view line) const;

 private:
  struct Lengths {
    uint32_t least;
    uint32_t most;
  };

  bool fits(uint32_t length, double threshold) const;
  Lengths lengths_within(double threshold) const;

  std::vector<uint32_t> pattern_;
  PairScorer scorer_;
  bool ignore_case_;
};

}  // namespace hoist::match
