#include "match/fuzz/best_matches.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "match/fuzz/prepared_scorer.h"

namespace hoist::match {
namespace {

// Choices that a thread takes at a time.
constexpr size_t kPiece = 4096;
// So far ahead choices are fetched: they lie anywhere.
constexpr size_t kAhead = 8;

class Search {
 public:
  Search(const FuzzScorer& scorer, const Sequence& query, const SequenceList& choices,
         const BestMatchOptions& options)
      : scorer_(scorer),
        query_(query),
        choices_(choices),
        options_(options),
        sign_(scorer.is_distance() ? -1 : 1) {}

  std::vector<Match> run(ThreadPool& pool) {
    const size_t pieces = (choices_.size() + kPiece - 1) / kPiece;
    if (options_.limit != 0) pool.parallel_for(pieces, [&](size_t piece) { score(piece); });
    const auto order = [&](const Match& a, const Match& b) { return is_before(a, b); };
    const size_t size = std::min(options_.limit, found_.size());
    const auto end = found_.begin() + static_cast<ptrdiff_t>(size);
    std::partial_sort(found_.begin(), end, found_.end(), order);
    found_.erase(end, found_.end());
    return std::move(found_);
  }

 private:
  bool is_before(const Match& a, const Match& b) const {
    return a.score == b.score ? a.place < b.place : sign_ * a.score > sign_ * b.score;
  }

  void score(size_t piece) {
    PreparedScorer prepared;
    prepared.set(scorer_, query_);
    const size_t begin = piece * kPiece;
    const size_t end = std::min(choices_.size(), begin + kPiece);
    auto missing = std::lower_bound(options_.missing.begin(), options_.missing.end(), begin);
    std::vector<Match> best;  // once it is full a heap, its worst first
    const auto order = [&](const Match& a, const Match& b) { return is_before(a, b); };
    for (size_t i = begin; i < end && !options_.stop.stop_requested(); ++i) {
      __builtin_prefetch(choices_[std::min(i + kAhead, end - 1)].symbols);
      if (missing != options_.missing.end() && *missing == i) {
        ++missing;
        continue;
      }
      const std::optional<double> cutoff = raised_cutoff();
      const Match match = {prepared.score(choices_[i], cutoff), i};
      if (cutoff && sign_ * match.score < sign_ * *cutoff) continue;
      if (best.size() == options_.limit) {
        if (!is_before(match, best.front())) continue;
        std::pop_heap(best.begin(), best.end(), order);
        best.back() = match;
        std::push_heap(best.begin(), best.end(), order);
      } else {
        best.push_back(match);
        if (best.size() < options_.limit) continue;
        std::make_heap(best.begin(), best.end(), order);
      }
      raise(best.front().score);
    }
    const std::scoped_lock lock(mutex_);
    found_.insert(found_.end(), best.begin(), best.end());
  }

  // Where as many as are wanted are known: what scores are then of interest. Ratios are compared
  // with a little less, so that no rounding decides.
  std::optional<double> raised_cutoff() const {
    const double known = least_.load(std::memory_order_relaxed);
    if (known == kUnknown) return options_.cutoff;
    const double least = scorer_.is_count() ? sign_ * known : sign_ * (known - kRounding);
    if (!options_.cutoff) return least;
    return sign_ * least > sign_ * *options_.cutoff ? least : *options_.cutoff;
  }

  void raise(double score) {
    double known = least_.load(std::memory_order_relaxed);
    while (sign_ * score > known && !least_.compare_exchange_weak(known, sign_ * score)) {
    }
  }

  static constexpr double kUnknown = -1e300;
  static constexpr double kRounding = 1e-7;

  const FuzzScorer& scorer_;
  const Sequence& query_;
  const SequenceList& choices_;
  const BestMatchOptions& options_;
  const double sign_;  // with which more is better
  std::atomic<double> least_ = kUnknown;
  std::mutex mutex_;
  std::vector<Match> found_;
};

}  // namespace

std::vector<Match> best_matches(const FuzzScorer& scorer, const Sequence& query,
                                const SequenceList& choices, ThreadPool& pool,
                                const BestMatchOptions& options) {
  return Search(scorer, query, choices, options).run(pool);
}

}  // namespace hoist::match
