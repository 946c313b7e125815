#include "match/fuzz/best_matches.h"

#include <algorithm>
#include <array>
#include <utility>

#include "match/fuzz/masked_counts.h"
#include "match/fuzz/score_time.h"

namespace hoist::match {
namespace {

// Choices that a thread takes at a time.
constexpr size_t kPiece = 4096;

constexpr double kUnknown = -1e300;
// Ratios are compared with a little less than what is known, so that no rounding decides.
constexpr double kRounding = 1e-7;

}  // namespace

BestMatches::BestMatches(const FuzzScorer& scorer, const Sequence& query,
                         std::optional<double> cutoff, size_t limit)
    : scorer_(scorer),
      query_(query),
      cutoff_(cutoff),
      limit_(limit),
      sign_(scorer.is_distance() ? -1 : 1),
      least_(kUnknown) {}

void BestMatches::score(const ChoiceBlock& block, ThreadPool& pool, const std::stop_token& stop) {
  const size_t size = block.choices.size();
  pool.parallel_for((size + kPiece - 1) / kPiece, [&](size_t piece) {
    const size_t begin = piece * kPiece;
    const size_t end = std::min(size, begin + kPiece);
    const auto& missing = block.missing;
    const auto from = std::lower_bound(missing.begin(), missing.end(), begin);
    std::vector<size_t> own(from, std::lower_bound(from, missing.end(), end));
    for (size_t& place : own) place -= begin;
    const auto places =
        block.places.empty() ? block.places : block.places.subspan(begin, end - begin);
    score({block.choices.subspan(begin, end - begin), block.first + begin, places, own}, stop);
  });
}

void BestMatches::score(const ChoiceBlock& block, const std::stop_token& stop) {
  PreparedScorer prepared;
  prepare(prepared);
  score(block, prepared, stop);
}

void BestMatches::score(const ChoiceBlock& block, PreparedScorer& prepared,
                        const std::stop_token& stop) {
  if (limit_ == 0) return;
  const std::vector<uint32_t> order = by_length(block);
  const auto sequence = [&](size_t i) { return &block.choices[order[i]]; };
  const bool is_query_short = query_.length <= kMostMasked;
  std::vector<Match> best;
  for (size_t i = 0; i < order.size(); i += kFour) {
    if (stop.stop_requested()) return;
    const size_t size = std::min(kFour, order.size() - i);
    const std::optional<double> cutoff = raised_cutoff();
    double scores[kFour];
    if (size == kFour && is_query_short && sequence(i)->length <= kMostMasked) {
      const Sequence* const others[kFour] = {sequence(i), sequence(i + 1), sequence(i + 2),
                                             sequence(i + 3)};
      prepared.score_four(others, cutoff, scores);
    } else {
      for (size_t k = 0; k < size && !stop.stop_requested(); ++k) {
        scores[k] = stoppable_score(prepared, scorer_, query_, *sequence(i + k), cutoff, stop);
      }
      if (stop.stop_requested()) return;
    }
    for (size_t k = 0; k < size; ++k) {
      if (cutoff && sign_ * scores[k] < sign_ * *cutoff) continue;
      const size_t at = order[i + k];
      add({scores[k], block.places.empty() ? block.first + at : block.places[at]}, best);
    }
  }
  const std::scoped_lock lock(mutex_);
  found_.insert(found_.end(), best.begin(), best.end());
}

// `best` once it is full is a heap, its worst first.
void BestMatches::add(const Match& match, std::vector<Match>& best) {
  const auto order = [&](const Match& a, const Match& b) { return is_before(a, b); };
  if (best.size() == limit_) {
    if (!is_before(match, best.front())) return;
    std::pop_heap(best.begin(), best.end(), order);
    best.back() = match;
    std::push_heap(best.begin(), best.end(), order);
  } else {
    best.push_back(match);
    if (best.size() < limit_) return;
    std::make_heap(best.begin(), best.end(), order);
  }
  raise(best.front().score);
}

// Those that are there: the nearer a length is to the query's the sooner, as good scores are likely
// there, and others then need not be looked at; those of one length one after another.
std::vector<uint32_t> BestMatches::by_length(const ChoiceBlock& block) const {
  constexpr size_t kKeys = 256;
  const auto key = [&](const Sequence& choice) {
    const int64_t longer = int64_t{choice.length} - int64_t{query_.length};
    const auto apart = static_cast<size_t>(longer < 0 ? -2 * longer - 1 : 2 * longer);
    return std::min(apart, kKeys - 1);
  };
  std::array<uint32_t, kKeys + 1> ends{};
  auto missing = block.missing.begin();
  const auto is_missing = [&](size_t i) {
    if (missing == block.missing.end() || *missing != i) return false;
    ++missing;
    return true;
  };
  const size_t size = block.choices.size();
  for (size_t i = 0; i < size; ++i) {
    if (!is_missing(i)) ++ends[key(block.choices[i]) + 1];
  }
  for (size_t k = 1; k <= kKeys; ++k) ends[k] += ends[k - 1];
  std::vector<uint32_t> order(ends[kKeys]);
  missing = block.missing.begin();
  for (size_t i = 0; i < size; ++i) {
    if (!is_missing(i)) order[ends[key(block.choices[i])]++] = static_cast<uint32_t>(i);
  }
  return order;
}

std::vector<Match> BestMatches::take() {
  const auto order = [&](const Match& a, const Match& b) { return is_before(a, b); };
  const size_t size = std::min(limit_, found_.size());
  const auto end = found_.begin() + static_cast<ptrdiff_t>(size);
  if (size < found_.size()) std::nth_element(found_.begin(), end, found_.end(), order);
  std::sort(found_.begin(), end, order);
  found_.erase(end, found_.end());
  return std::move(found_);
}

std::optional<double> BestMatches::raised_cutoff() const {
  const double known = least_.load(std::memory_order_relaxed);
  if (known == kUnknown) return cutoff_;
  const double least = sign_ * (scorer_.is_count() ? known : known - kRounding);
  return cutoff_ && sign_ * *cutoff_ > sign_ * least ? *cutoff_ : least;
}

void BestMatches::raise(double score) {
  double known = least_.load(std::memory_order_relaxed);
  while (sign_ * score > known && !least_.compare_exchange_weak(known, sign_ * score)) {
  }
}

}  // namespace hoist::match
