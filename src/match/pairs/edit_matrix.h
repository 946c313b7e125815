// Edits between two sequences by the whole dynamic-programming matrix, bit-parallel: 64 rows a word
// (edit_words.h says after whom), and up to kStripWords words at a time go through all columns, so
// that they stay in registers and the masks of their rows in the nearest cache. What goes from a
// strip of rows to the one below is kept as a byte for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

inline constexpr size_t kStripWords = 8;

// Levenshtein distance, or insertions and deletions (m + n - 2 * LCS) if `count` is lcs. Time:
// words of `rows` times symbols of `columns`, and memory a few bytes for each symbol of both. Once
// `stop` is requested, it returns soon, and what it returns is undefined.
uint64_t matrix_edits(PairCount count, const Sequence& rows, const Sequence& columns,
                      const std::stop_token& stop = {});

}  // namespace hoist::match
