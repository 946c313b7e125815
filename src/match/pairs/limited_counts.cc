#include "match/pairs/limited_counts.h"

#include <algorithm>

#include "match/score/bounded_edits.h"

namespace hoist::match {
namespace {

using Way = LimitedCounts::Plan::Way;

constexpr uint64_t kPoint = 10;  // a furthest-reaching point, as PairTimes
// Symbols that are equal, of one diagonal, in the time of a point.
constexpr uint64_t kEqualSymbols = 32;
// With fewer edits their points take less time than a first look at the band.
constexpr int64_t kFewEdits = 5;

uint32_t difference(uint32_t m, uint32_t n) { return std::max(m, n) - std::min(m, n); }

uint64_t time_of_points(uint32_t m, uint32_t n, int64_t edits) {
  if (edits > kMostBoundedEdits) return UINT64_MAX;
  const auto diagonals = static_cast<uint64_t>(edits - difference(m, n)) + 1;
  const uint64_t equal = std::min(m, n) / kEqualSymbols;
  return kPoint * diagonals * (static_cast<uint64_t>(edits) / 2 + 1 + equal);
}

// Unrelated sequences of 26 letters differ in nearly every symbol.
uint64_t look_columns(const LimitedCounts::Plan& plan) {
  const auto edits = static_cast<uint64_t>(plan.edits);
  return std::min(uint64_t{plan.n}, edits + edits / 2 + 8);
}

// As sequences do of which one was made from the other by some edits: a first look at them shows
// nothing.
bool begin_alike(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  constexpr size_t kSymbols = 8;
  return a.size() >= kSymbols && b.size() >= kSymbols &&
         std::equal(a.begin(), a.begin() + kSymbols, b.begin());
}

// Equal symbols at the end of both change no number of edits.
void cut_equal_ends(std::span<const uint32_t>& a, std::span<const uint32_t>& b) {
  const auto ends = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  const auto equal = static_cast<size_t>(ends.first - a.rbegin());
  a = a.first(a.size() - equal);
  b = b.first(b.size() - equal);
}

}  // namespace

void LimitedCounts::plan(uint32_t m, uint32_t n, int64_t edits, Plan& plan) const {
  plan.m = m;
  plan.n = n;
  plan.edits = std::min(edits, int64_t{m} + n);
  plan.column_time = 0;
  if (edits < difference(m, n)) {
    plan.way = Way::is_beyond;
    plan.time = 0;
    return;
  }
  plan.time = time_of_points(m, n, edits);
  plan.way = plan.time == UINT64_MAX ? Way::none : Way::points;
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
    plan.time = n * plan.column_time;
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

int64_t LimitedCounts::count(Symbols a, Symbols b, const Plan& plan) {
  const auto limit = static_cast<uint32_t>(plan.edits);
  switch (plan.way) {
    case Way::band:
      cut_equal_ends(a, b);
      return count_of(plan, banded_.count(count_, a, b, most(plan)));
    case Way::points:
      if (!begin_alike(a, b) && are_soon_beyond(a, b, plan)) break;
      return count_of(plan, count_ == PairCount::lcs ? bounded_indels(a, b, limit)
                                                     : bounded_levenshtein(a, b, limit));
    default:
      break;
  }
  // One that is beyond.
  const int64_t least = std::max<int64_t>(plan.edits + 1, difference(plan.m, plan.n));
  return count_of(plan, static_cast<uint64_t>(least));
}

bool LimitedCounts::are_soon_beyond(Symbols a, Symbols b, const Plan& plan) {
  if (plan.column_time == 0) return false;
  const uint64_t limit = most(plan);
  return banded_.count(count_, a, b, limit, look_columns(plan)) > limit;
}

bool LimitedCounts::look_first(Symbols a, Symbols b, Plan& plan) {
  if (plan.way != Way::is_beyond && are_soon_beyond(a, b, plan)) {
    plan.way = Way::is_beyond;
    plan.time = 0;
  }
  return plan.way == Way::is_beyond;
}

uint64_t LimitedCounts::time_of_look(const Plan& plan) {
  return plan.way == Way::is_beyond ? 0 : plan.column_time * look_columns(plan);
}

}  // namespace hoist::match
