// Edits between two sequences, by the way that takes the least time; count_pairs() does the same
// for many pairs.
//
//   if (pair_edits(PairCount::levenshtein, a, b, 3) > 3) …  // how many they are is not known
//
// Equal fronts and ends are taken off. What is left goes from edit to edit where few are allowed
// (match/score/bounded_edits.h), along a band of the matrix that is as wide as the limit
// (banded_edits.h), or through the whole matrix (edit_matrix.h), whichever takes less. Sequences
// that are long and alike are told by bands of few edits first, each four times as wide as the one
// before, up to a part of the length at which they all together take little beside the whole matrix
// (E. Ukkonen, "Algorithms for approximate string matching", 1985).
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>

#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

inline constexpr uint64_t kAnyEdits = std::numeric_limits<uint64_t>::max();

// Levenshtein distance, or insertions and deletions (m + n - 2 * LCS) if `count` is lcs; `most` + 1
// where there are more than `most`. Once `stop` is requested, it returns soon, and what it returns
// is undefined.
uint64_t pair_edits(PairCount count, const Sequence& a, const Sequence& b,
                    uint64_t most = kAnyEdits, const std::stop_token& stop = {});

// Steps of 64 cells that it takes at most, about.
uint64_t pair_steps(const Sequence& a, const Sequence& b, uint64_t most);

}  // namespace hoist::match
