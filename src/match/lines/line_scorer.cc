#include "match/lines/line_scorer.h"

#include <algorithm>
#include <string>

#include "base/threads.h"
#include "match/lines/code_points.h"
#include "match/lines/line_blocks.h"
#include "match/pairs/score_matrix.h"
#include "match/score/blocks.h"

namespace hoist::match {
namespace {

constexpr uint32_t kLongest = uint32_t{1} << 31;  // what sequences of pairs may have

// Lines as sequences. ASCII lies where it is; other lines are decoded.
class Sequences {
 public:
  Sequences(std::string_view block, bool fold)
      : block_(block), bytes_(block), fold_(fold), all_ascii_(is_ascii(block)) {
    if (!fold) return;
    fold_ascii(block, folded_);
    bytes_ = folded_;
  }

  void add(uint32_t line, std::string_view text, uint32_t least, uint32_t most) {
    if (text.size() < least) return;
    if (all_ascii_ || is_ascii(text)) {
      if (text.size() > most) return;
      const auto at = static_cast<size_t>(text.data() - block_.data());
      const auto* const bytes = reinterpret_cast<const uint8_t*>(bytes_.data() + at);
      lines_.push_back(line);
      sequences_.emplace_back(bytes, text.size());
      return;
    }
    constexpr size_t kMostBytes = 4;  // of a code point
    if (text.size() / kMostBytes > most) return;
    const size_t begin = points_.size();
    append_line_points(text, fold_, points_);
    const size_t length = points_.size() - begin;
    if (length < least || length > most) {
      points_.resize(begin);
      return;
    }
    decoded_.push_back({sequences_.size(), begin});
    lines_.push_back(line);
    sequences_.emplace_back(points_.data(), length);
  }

  const std::vector<uint32_t>& lines() const { return lines_; }

  // Valid until the next add().
  SequenceList list() {
    for (const Decoded& decoded : decoded_) {
      sequences_[decoded.sequence].symbols = points_.data() + decoded.begin;
    }
    return sequences_;
  }

 private:
  struct Decoded {
    size_t sequence;
    size_t begin;
  };

  std::string_view block_;
  std::string_view bytes_;
  std::string folded_;
  bool fold_;
  bool all_ascii_;
  std::vector<uint32_t> lines_;
  std::vector<Sequence> sequences_;
  std::vector<uint32_t> points_;
  std::vector<Decoded> decoded_;
};

}  // namespace

std::optional<PairScorer> line_scorer_named(std::string_view name) {
  using Family = PairScorer::Family;
  const auto of = [](Family family) {
    return PairScorer{family, PairScorer::Value::normalized_similarity, false};
  };
  if (name == "indel") return of(Family::indel);
  if (name == "levenshtein") return of(Family::levenshtein);
  if (name == "lcs") return of(Family::lcs);
  return {};
}

LineScorer::LineScorer(std::string_view pattern, const PairScorer& scorer, bool ignore_case)
    : scorer_(scorer), ignore_case_(ignore_case) {
  append_line_points(pattern, ignore_case, pattern_);
}

// Whether a line of this length can reach the threshold: what it is longer or shorter by are edits.
bool LineScorer::fits(uint32_t length, double threshold) const {
  const auto m = static_cast<int64_t>(pattern_.size());
  const auto n = static_cast<int64_t>(length);
  return scorer_.most_edits(pattern_.size(), length, threshold) >= std::max(m - n, n - m);
}

// The pattern's own length fits, and the further from it the less.
LineScorer::Lengths LineScorer::lengths_within(double threshold) const {
  const auto own = static_cast<uint32_t>(pattern_.size());
  const auto furthest = [&](uint32_t inside, uint32_t outside) {
    while (std::max(inside, outside) - std::min(inside, outside) > 1) {
      const uint32_t middle =
          std::min(inside, outside) + (std::max(inside, outside) - std::min(inside, outside)) / 2;
      (fits(middle, threshold) ? inside : outside) = middle;
    }
    return inside;
  };
  const uint32_t least = fits(0, threshold) ? 0 : furthest(own, 0);
  const uint32_t most = fits(kLongest - 1, threshold) ? kLongest - 1 : furthest(own, kLongest - 1);
  return {least, most};
}

// The threshold is the cut-off as it is, where RapidFuzz rounds it to 32 bits: a score of 0.8
// reaches 0.8.
void LineScorer::find(std::string_view block, const std::vector<uint32_t>& ends, double threshold,
                      std::vector<LineHit>& hits) const {
  hits.clear();
  const Lengths within = lengths_within(threshold);
  Sequences sequences(block, ignore_case_);
  for (uint32_t i = 0; i < ends.size(); ++i) {
    sequences.add(i, line_of(block, ends, i), within.least, within.most);
  }
  const std::vector<uint32_t>& lines = sequences.lines();
  if (lines.empty()) return;
  const Sequence pattern(pattern_.data(), pattern_.size());
  std::vector<double> scores(lines.size());
  PairScoring scoring{scorer_, {}, 1};
  if (threshold > 0) scoring.cutoff = threshold;
  ThreadPool alone(1);  // whoever calls has a block for each thread
  fill_scores<double>(scoring, {&pattern, 1}, sequences.list(), alone, scores);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (scores[i] >= threshold) hits.push_back({lines[i], scores[i]});
  }
}

std::vector<ByteRange> LineScorer::common_parts(std::string_view line) const {
  std::vector<uint32_t> points;
  std::vector<size_t> begins;  // bytes, by code point
  for (size_t at = 0; at < line.size();) {
    begins.push_back(at);
    const uint32_t point = next_line_point(line, at);
    points.push_back(ignore_case_ ? lower_case(point) : point);
    if (points.size() > kMostShown) return {};
  }
  begins.push_back(line.size());
  if (pattern_.size() > kMostShown) return {};
  const BlockMatcher matcher(pattern_);
  BlockMatcher::Scratch scratch;
  std::vector<Block> blocks;
  if (!matcher.find(points, blocks, scratch)) return {};
  std::vector<ByteRange> ranges;
  for (const Block& block : blocks) {
    const size_t begin = begins[block.a];
    const size_t end = begins[block.a + block.size];
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  }
  return ranges;
}

}  // namespace hoist::match
