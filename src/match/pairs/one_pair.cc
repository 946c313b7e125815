#include "match/pairs/one_pair.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "match/pairs/edit_matrix.h"
#include "match/pairs/limited_counts.h"
#include "match/pairs/short_edits.h"
#include "match/pairs/symbol_numbers.h"
#include "match/score/bounded_edits.h"
#include "match/score/common_ends.h"

namespace hoist::match {
namespace {

// So few edits are followed from one to the next whatever the lengths.
constexpr uint64_t kFewEdits = 3;
// The narrowest band that is tried where more edits are allowed, how much wider the next one is,
// and which part of the length the widest one: all that are tried take a few hundredths of the
// matrix.
constexpr uint64_t kFirstTry = 32;
constexpr uint64_t kNextTry = 4;
constexpr uint64_t kTriedPart = 8;

// One pair at a time may have more of the nearer memory than each thread with many pairs.
constexpr size_t kTableBytes = size_t{16} << 20;

// What is left of both without what is equal at their fronts and ends.
void strip_ends(Sequence& a, Sequence& b) {
  const auto [front, end] = with_symbols(a, [&](const auto x) {
    return with_symbols(b, [&](const auto y) {
      const auto size = static_cast<int64_t>(std::min(x.size(), y.size()));
      const int64_t equal = equal_at_front(x.data(), y.data(), size);
      return std::pair(equal, equal_at_end(x.data() + x.size(), y.data() + y.size(), size - equal));
    });
  });
  const auto begin = static_cast<uint32_t>(front);
  const auto less = static_cast<uint32_t>(front + end);
  a = part_of(a, begin, a.length - less);
  b = part_of(b, begin, b.length - less);
}

uint64_t few_edits(PairCount count, const Sequence& a, const Sequence& b, uint64_t most) {
  const auto limit = static_cast<uint32_t>(most);
  return with_symbols(a, [&](const auto x) {
    return with_symbols(b, [&](const auto y) -> uint64_t {
      return count == PairCount::lcs ? bounded_indels(x, y, limit)
                                     : bounded_levenshtein(x, y, limit);
    });
  });
}

// What is said of edits that are not all looked for.
uint64_t up_to(uint64_t most, uint64_t edits) { return edits > most ? most + 1 : edits; }

// One long pair up to one limit after the other. `a` is not shorter than `b`.
class LongPair {
 public:
  LongPair(PairCount count, const Sequence& a, const Sequence& b, const std::stop_token& stop)
      : count_(count), a_(a), b_(b), stop_(stop) {
    if (a.width == 1 && b.width == 1) {
      rows_.set(a, numbers_);
    } else {
      row_numbers_.resize(a.length);
      numbers_.add(a, row_numbers_.data());
      rows_.set(a, row_numbers_.data());
    }
    columns_.set(b, numbers_);
    limited_.emplace(count, numbers_.size(), pair_kernels(), stop, kTableBytes);
  }

  uint64_t edits(uint64_t most) {
    const uint64_t widest = std::min(most, a_.length / kTriedPart);
    const uint64_t difference = a_.length - b_.length;
    for (uint64_t tried = kFirstTry; tried < widest; tried *= kNextTry) {
      if (tried < difference) continue;
      const std::optional<uint64_t> found = edits_within(tried);
      if (!found || *found <= tried || is_cancelled()) return found ? *found : matrix(most);
    }
    const std::optional<uint64_t> found = edits_within(most);
    return found ? *found : matrix(most);
  }

 private:
  bool is_cancelled() const { return stop_.stop_requested(); }
  uint64_t matrix(uint64_t most) const { return up_to(most, matrix_edits(count_, a_, b_, stop_)); }

  // Nothing where the matrix takes less time.
  std::optional<uint64_t> edits_within(uint64_t most) {
    const uint64_t all = uint64_t{a_.length} + b_.length;
    LimitedCounts::Plan plan;
    limited_->plan(a_.length, b_.length, static_cast<int64_t>(std::min(most, all)), plan);
    const PairTimes& times = PairTimes::of(count_);
    const uint64_t words = (uint64_t{a_.length} + 63) / 64;
    const uint64_t word = words <= kStripWords ? times.single_word : times.strips_word;
    if (plan.time > word * words * b_.length) return {};
    if (limited_->are_far(a_, b_, plan)) return most + 1;
    const auto counted = static_cast<uint64_t>(limited_->count(rows_, columns_, plan));
    const uint64_t edits = count_ == PairCount::lcs ? all - 2 * counted : counted;
    return up_to(most, edits);
  }

  PairCount count_;
  Sequence a_;
  Sequence b_;
  const std::stop_token stop_;
  SymbolNumbers numbers_;
  std::vector<uint32_t> row_numbers_;  // where they are not looked up as they are asked for
  NumberedSequence rows_;
  NumberedSequence columns_;
  std::optional<LimitedCounts> limited_;
};

}  // namespace

uint64_t pair_edits(PairCount count, const Sequence& a, const Sequence& b, uint64_t most,
                    const std::stop_token& stop) {
  Sequence longer = a.length >= b.length ? a : b;
  Sequence shorter = a.length >= b.length ? b : a;
  const uint64_t difference = longer.length - shorter.length;
  if (difference > most) return most + 1;
  strip_ends(longer, shorter);
  if (shorter.length == 0) return longer.length;
  // The first symbols differ, and so do the last ones.
  const bool is_lcs = count == PairCount::lcs;
  const uint64_t least = std::max<uint64_t>(difference, is_lcs ? 2 : 1);
  if (least > most) return most + 1;
  const uint64_t all = is_lcs ? uint64_t{longer.length} + shorter.length : longer.length;
  if (most >= all) most = kAnyEdits;  // says nothing
  if (most <= kFewEdits) return few_edits(count, longer, shorter, most);
  if (are_short(longer, shorter, most)) return short_edits(count, longer, shorter, most);
  return LongPair(count, longer, shorter, stop).edits(most);
}

uint64_t pair_steps(const Sequence& a, const Sequence& b, uint64_t most) {
  const uint64_t rows = std::max(a.length, b.length);
  const uint64_t columns = std::min(a.length, b.length);
  // A band has at most as many diagonals as edits, and as many more to begin and end with a word.
  return columns * ((std::min(rows, most < rows ? most + 128 : rows) + 63) / 64 + 1);
}

}  // namespace hoist::match
