// Counts of two sequences that are of interest up to some edits only, by the way that takes the
// least time: by furthest-reaching points (match/score/bounded_edits.h), which pay where few edits
// are allowed or found, or along a band of the matrix (banded_edits.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "match/pairs/banded_edits.h"
#include "match/pairs/pair_kernels.h"

namespace hoist::match {

// Times in tenths of a nanosecond, as measured on an AMD EPYC with AVX-512. Only their ratios
// matter.
struct PairTimes {
  uint64_t lanes_column;  // of one lane of several words for each symbol of the stream
  uint64_t lanes_word;    // and of each of these
  uint64_t single_word;   // of SingleCounts
  uint64_t masks_word;    // of MatchMasks
  uint64_t band_column;   // a band of several words, and each of these
  uint64_t band_word;
  uint64_t one_word_column;  // a band of one word

  static const PairTimes& of(PairCount count) {
    static constexpr PairTimes kLcs = {3, 1, 6, 25, 3, 9, 16};
    static constexpr PairTimes kLevenshtein = {2, 3, 18, 25, 4, 18, 28};
    return count == PairCount::lcs ? kLcs : kLevenshtein;
  }
};

// For one thread. Edits are the Levenshtein distance, or the insertions and deletions of an LCS.
class LimitedCounts {
 public:
  using Symbols = std::span<const uint32_t>;

  // Of two sequences of lengths m and n.
  struct Plan {
    enum class Way : uint8_t { none, is_beyond, points, band };

    uint32_t m = 0;
    uint32_t n = 0;
    int64_t edits = 0;  // the limit
    Way way = Way::none;
    uint64_t time;             // at worst; UINT64_MAX if there is no way
    uint64_t column_time = 0;  // of the band, if that is known
  };

  // Symbols are below `distinct`.
  LimitedCounts(PairCount count, uint32_t distinct, const std::atomic<bool>* cancelled)
      : count_(count), banded_(distinct, cancelled) {}

  // Any number of edits is a limit. In place: a copy of what was just written in parts is slow.
  void plan(uint32_t m, uint32_t n, int64_t edits, Plan& plan) const;

  // The count, if it is within the limit, or one that is not.
  int64_t count(Symbols a, Symbols b, const Plan& plan);

  // Whether they are beyond the limit, which a few symbols show where sequences have little in
  // common. Then the plan is that.
  bool look_first(Symbols a, Symbols b, Plan& plan);
  // What that takes where they are not.
  static uint64_t time_of_look(const Plan& plan);

 private:
  uint64_t column_time(uint32_t m, uint32_t n, int64_t edits) const;
  bool are_soon_beyond(Symbols a, Symbols b, const Plan& plan);
  // Not more edits than any such sequences are apart.
  uint64_t most(const Plan& plan) const;
  int64_t count_of(const Plan& plan, uint64_t edits) const;

  PairCount count_;
  BandedEdits banded_;
};

}  // namespace hoist::match
