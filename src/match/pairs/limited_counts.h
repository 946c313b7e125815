// Counts of two sequences that are of interest up to some edits only, by the way that takes the
// least time: by furthest-reaching points (match/score/bounded_edits.h), which pay where few edits
// are allowed or found, or along a band of the matrix (banded_edits.h). Where sequences have little
// in common, their fronts show it before (front_check.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stop_token>

#include "match/pairs/banded_edits.h"
#include "match/pairs/front_check.h"
#include "match/pairs/pair_kernels.h"
#include "match/pairs/single_counts.h"

namespace hoist::match {

// Times in tenths of a nanosecond, as measured on an AMD EPYC with AVX-512. Only their ratios
// matter.
struct PairTimes {
  uint64_t lanes_column;  // of one lane of several words for each symbol of the stream
  uint64_t lanes_word;    // and of each of these
  uint64_t single_word;   // of SingleCounts
  uint64_t strips_word;   // of matrix_edits()
  uint64_t band_column;   // a band of several words, and each of these
  uint64_t band_word;
  uint64_t one_word_column;  // a band of one word

  static const PairTimes& of(PairCount count) {
    static constexpr PairTimes kLcs = {3, 1, 6, 9, 3, 9, 16};
    static constexpr PairTimes kLevenshtein = {2, 3, 18, 24, 4, 18, 28};
    return count == PairCount::lcs ? kLcs : kLevenshtein;
  }
};

// Whether to look first at something that often decides. After it decided nothing, twice as many
// times as before go without.
class FirstLooks {
 public:
  bool is_worth_while() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void decided(bool something) {
    constexpr int kMostSkipped = 64;
    left_ = skipped_ = something ? 0 : std::min(kMostSkipped, 2 * skipped_ + 1);
  }

 private:
  int skipped_ = 0;
  int left_ = 0;
};

// For one thread. Edits are the Levenshtein distance, or the insertions and deletions of an LCS.
class LimitedCounts {
 public:
  // How to compare two sequences of lengths m and n.
  struct Plan {
    enum class Way : uint8_t { none, is_beyond, points, band };

    uint32_t m = 0;
    uint32_t n = 0;
    int64_t edits = 0;   // the limit
    int64_t beyond = 0;  // a count beyond it
    Way way = Way::none;
    uint64_t time;             // at worst; UINT64_MAX if there is no way
    uint64_t likely_time = 0;  // where they have most in common
    uint64_t column_time = 0;  // of the band, if that is known
    FrontCheck::Plan front;
  };

  // Numbers are below `distinct`.
  LimitedCounts(PairCount count, uint32_t distinct, const PairKernels& kernels,
                const std::stop_token& stop, size_t table_bytes = BandedEdits::kTableBytes)
      : count_(count), front_(kernels), banded_(distinct, stop, table_bytes) {}

  // Any number of edits is a limit. In place: a copy of what was just written in parts is slow.
  void plan(uint32_t m, uint32_t n, int64_t edits, Plan& plan) const;

  // The count, if it is within the limit, or one that is not.
  int64_t count(NumberedSequence& a, NumberedSequence& b, const Plan& plan);
  // Whether they are surely beyond the limit, as their fronts show where that is often so. False
  // says nothing.
  bool are_far(const Sequence& a, const Sequence& b, const Plan& plan) {
    if (plan.front.symbols == 0 || !fronts_.is_worth_while()) return false;
    const bool is_far = front_.are_beyond(a, b, plan.front);
    fronts_.decided(is_far);
    return is_far;
  }

  // The same of short sequences, the one by its counts.
  bool are_far(const SingleCounts& one, const Sequence& other, const SymbolNumbers& numbers,
               const Plan& plan) {
    if (!fronts_.is_worth_while()) return false;
    const FrontCheck::Plan& front = plan.front;
    const bool is_far = one.has_unmatched(other, numbers, front.first, front.shifts, front.most);
    fronts_.decided(is_far);
    return is_far;
  }

  // The same by any first look that there is for the plan.
  bool are_soon_beyond(NumberedSequence& a, NumberedSequence& b, const Plan& plan);
  // What that takes where they are not.
  static uint64_t time_of_look(const Plan& plan);

 private:
  uint64_t points(const Sequence& a, const Sequence& b, const Plan& plan) const;
  // Not more edits than any such sequences are apart.
  uint64_t most(const Plan& plan) const;
  int64_t count_of(const Plan& plan, uint64_t edits) const;

  PairCount count_;
  FrontCheck front_;
  FirstLooks fronts_;
  BandedEdits banded_;
};

}  // namespace hoist::match
