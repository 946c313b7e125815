#include "match/pairs/limited_counts.h"

#include <algorithm>

#include "match/score/bounded_edits.h"

namespace hoist::match {
namespace {

using Way = LimitedCounts::Plan::Way;

constexpr uint64_t kPoint = 10;    // a furthest-reaching point, as PairTimes
constexpr uint64_t kPoints = 120;  // and all that comes before the first
// Symbols that are equal, of one diagonal, in the time of a point.
constexpr uint64_t kEqualSymbols = 32;
// With fewer edits their points take less time than a first look at the band.
constexpr int64_t kFewEdits = 5;

uint32_t difference(uint32_t m, uint32_t n) { return std::max(m, n) - std::min(m, n); }

// At worst, and where most symbols are equal and edits few.
struct PointsTime {
  uint64_t most;
  uint64_t least;
};
PointsTime time_of_points(uint32_t m, uint32_t n, int64_t edits) {
  if (edits > kMostBoundedEdits) return {UINT64_MAX, UINT64_MAX};
  const uint64_t diagonals = kPoint * (static_cast<uint64_t>(edits - difference(m, n)) + 1);
  const uint64_t equal = std::min(m, n) / kEqualSymbols;
  return {kPoints + diagonals * (static_cast<uint64_t>(edits) / 2 + 1 + equal),
          kPoints + diagonals};
}

// Unrelated sequences of 26 letters differ in nearly every symbol.
uint64_t look_columns(const LimitedCounts::Plan& plan) {
  const auto edits = static_cast<uint64_t>(plan.edits);
  return std::min(uint64_t{plan.n}, edits + edits / 2 + 8);
}

// As sequences do of which one was made from the other by some edits: a first look at them shows
// nothing.
bool begin_alike(const Sequence& a, const Sequence& b) {
  constexpr size_t kSymbols = 8;
  if (a.length < kSymbols || b.length < kSymbols) return false;
  return with_symbols(a, [&](const auto x) {
    return with_symbols(
        b, [&](const auto y) { return std::equal(x.begin(), x.begin() + kSymbols, y.begin()); });
  });
}

}  // namespace

void LimitedCounts::plan(uint32_t m, uint32_t n, int64_t edits, Plan& plan) const {
  plan.m = m;
  plan.n = n;
  plan.edits = std::min(edits, int64_t{m} + n);
  const int64_t beyond = std::max<int64_t>(plan.edits + 1, difference(m, n));
  plan.beyond = count_of(plan, static_cast<uint64_t>(beyond));
  plan.column_time = 0;
  plan.front = {};
  if (edits < difference(m, n)) {
    plan.way = Way::is_beyond;
    plan.likely_time = plan.time = 0;
    return;
  }
  const PointsTime points = time_of_points(m, n, edits);
  plan.time = points.most;
  plan.likely_time = points.least;
  plan.way = plan.time == UINT64_MAX ? Way::none : Way::points;
  plan.front = FrontCheck::plan(count_, m, n, most(plan));
  if (edits < kFewEdits) return;
  const EditBand band(m, n, most(plan));
  if (!banded_.takes(band)) return;
  const PairTimes& times = PairTimes::of(count_);
  plan.column_time = banded_.is_in_one_word(band)
                         ? times.one_word_column
                         : times.band_column + times.band_word * band.words();
  if (plan.way == Way::points) plan.time += time_of_look(plan);
  if (n * plan.column_time < plan.time) {
    plan.way = Way::band;
    plan.likely_time = plan.time = n * plan.column_time;
  }
}

uint64_t LimitedCounts::most(const Plan& plan) const {
  const uint64_t all =
      count_ == PairCount::lcs ? uint64_t{plan.m} + plan.n : std::max(plan.m, plan.n);
  return std::min(static_cast<uint64_t>(plan.edits), all);
}

int64_t LimitedCounts::count_of(const Plan& plan, uint64_t edits) const {
  const auto signed_edits = static_cast<int64_t>(edits);
  return count_ == PairCount::lcs ? (int64_t{plan.m} + plan.n - signed_edits) / 2 : signed_edits;
}

int64_t LimitedCounts::count(NumberedSequence& a, NumberedSequence& b, const Plan& plan) {
  switch (plan.way) {
    case Way::band:
      return count_of(plan, banded_.count(count_, a, b, most(plan)));
    case Way::points:
      if (plan.front.symbols == 0 && plan.column_time != 0 &&
          !begin_alike(a.sequence(), b.sequence()) && are_soon_beyond(a, b, plan)) {
        return plan.beyond;
      }
      return count_of(plan, points(a.sequence(), b.sequence(), plan));
    default:
      return plan.beyond;
  }
}

uint64_t LimitedCounts::points(const Sequence& a, const Sequence& b, const Plan& plan) const {
  const auto limit = static_cast<uint32_t>(plan.edits);
  return with_symbols(a, [&](const auto x) {
    return with_symbols(b, [&](const auto y) {
      return count_ == PairCount::lcs ? bounded_indels(x, y, limit)
                                      : bounded_levenshtein(x, y, limit);
    });
  });
}

bool LimitedCounts::are_soon_beyond(NumberedSequence& a, NumberedSequence& b, const Plan& plan) {
  if (plan.way == Way::is_beyond) return true;
  if (plan.front.symbols != 0) return front_.are_beyond(a.sequence(), b.sequence(), plan.front);
  if (plan.column_time == 0) return false;
  const uint64_t limit = most(plan);
  return banded_.count(count_, a, b, limit, look_columns(plan)) > limit;
}

uint64_t LimitedCounts::time_of_look(const Plan& plan) {
  if (plan.way == Way::is_beyond) return 0;
  if (plan.front.symbols != 0) return FrontCheck::time(plan.front);
  return plan.column_time * look_columns(plan);
}

}  // namespace hoist::match
