// A scorer with one sequence prepared for comparison with many: its words, the masks of its
// symbols.
//
//   PreparedScorer prepared;
//   prepared.set(scorer, query);
//   for (const Sequence& choice : choices) double score = prepared.score(choice, cutoff);
//
// Scores are those of fuzz_score(). Not for two threads at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/query_masks.h"
#include "match/fuzz/ratios.h"

namespace hoist::match {

class PreparedScorer {
 public:
  // The symbols must outlive it, or the next set(), whose memory is used again.
  void set(const FuzzScorer& scorer, const Sequence& query);

  double score(const Sequence& other, std::optional<double> cutoff);
  // The scores of four others; faster than one by one where they are of one length.
  void score_four(const Sequence* const* others, std::optional<double> cutoff, double* scores);

 private:
  // What is counted by masks.
  enum class Count : uint8_t { none, lcs, levenshtein, osa };

  // What a count of a sequence of length n scores.
  double score_of(uint64_t count, uint64_t n, std::optional<double> cutoff) const;
  // Whether no sequence of length n can pass.
  bool is_beyond(uint64_t n, std::optional<double> cutoff) const;
  double beyond(double cutoff) const;
  double jaro(const Sequence& other, std::optional<double> cutoff) const;
  double percent(const Sequence& other, double cutoff);
  uint64_t distance(const Sequence& other);

  FuzzScorer scorer_;
  Count count_ = Count::none;
  std::optional<PairScorer> pair_;
  Sequence query_;
  std::vector<uint32_t> query_room_;
  Symbols symbols_;  // of the query
  QueryMasks masks_;
  Ratios ratios_;
  std::vector<uint32_t> other_room_;
};

// What a distance scores where none could be more than `most`.
double score_of_distance(const FuzzScorer& scorer, uint64_t distance, uint64_t most,
                         std::optional<double> cutoff);
// What a Jaro similarity scores.
double score_of_jaro(const FuzzScorer& scorer, double similarity, std::optional<double> cutoff);

}  // namespace hoist::match
