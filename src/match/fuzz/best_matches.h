// The choices that are most like a query, by any scorer of RapidFuzz.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/threads.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/prepared_scorer.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

struct Match {
  double score;
  size_t place;
};

// Choices that are scored one after another.
struct ChoiceBlock {
  SequenceList choices;
  size_t first = 0;                      // the place of the first one
  std::span<const size_t> places = {};   // where they are elsewhere
  std::span<const size_t> missing = {};  // which of them are none, ascending
};

// Collects the `limit` best that reach the cut-off. What is worse than as many others need not be
// scored to the end: every block tells the others how good a score must be.
class BestMatches {
 public:
  // What is passed must outlive it. The cut-off is as of fuzz_score().
  BestMatches(const FuzzScorer& scorer, const Sequence& query, std::optional<double> cutoff,
              size_t limit);

  // Thread-safe. Once a stop is requested, it returns soon.
  void score(const ChoiceBlock& block, const std::stop_token& stop = {});
  // The same by a scorer that prepare() has set.
  void score(const ChoiceBlock& block, PreparedScorer& prepared, const std::stop_token& stop = {});
  void prepare(PreparedScorer& prepared) const { prepared.set(scorer_, query_); }
  // The same for many, by all threads of the pool.
  void score(const ChoiceBlock& block, ThreadPool& pool, const std::stop_token& stop = {});

  // Among which the best so far are: it only grows. Not while others score.
  std::span<const Match> candidates() const { return found_; }
  // The best first; of equally good ones the first in place first.
  std::vector<Match> take();

 private:
  bool is_before(const Match& a, const Match& b) const {
    return a.score == b.score ? a.place < b.place : sign_ * a.score > sign_ * b.score;
  }
  std::vector<uint32_t> by_length(const ChoiceBlock& block) const;
  void add(const Match& match, std::vector<Match>& best);
  std::optional<double> raised_cutoff() const;
  void raise(double score);

  const FuzzScorer& scorer_;
  const Sequence& query_;
  const std::optional<double> cutoff_;
  const size_t limit_;
  const double sign_;          // with which more is better
  std::atomic<double> least_;  // of interest once as many as are wanted are known
  std::mutex mutex_;
  std::vector<Match> found_;
};

}  // namespace hoist::match
