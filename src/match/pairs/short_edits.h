// Edits of two sequences of a few words of 64 symbols, without memory of their own: what a call for
// one pair takes is most of all in what it does not do.
//
//   if (are_short(a, b, most)) edits = short_edits(PairCount::lcs, a, b, most);
#pragma once

#include <cstdint>

#include "match/pairs/byte_symbols.h"
#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

// Up to so many symbols that may take less time than to find out what would take less.
inline constexpr uint32_t kMostShort = ByteSymbols::kMost;

// Whether it does, for up to so many edits: where a band of the matrix is more than a word and much
// less than all, and the rows are some words, such a band takes less.
inline bool are_short(const Sequence& rows, const Sequence& columns, uint64_t most) {
  constexpr uint32_t kFewRows = 192;
  return rows.length <= kMostShort && columns.length <= kMostShort &&
         (rows.length <= kFewRows || most < 64 || most >= rows.length / 2) &&
         ByteSymbols::takes(rows, columns);
}

// As pair_edits() has them, of sequences that are_short() and have a symbol each; `most` is at
// least the difference of their lengths. By the matrix, or where few edits are allowed by up to 64
// diagonals of it.
uint64_t short_edits(PairCount count, const Sequence& rows, const Sequence& columns, uint64_t most);

}  // namespace hoist::match
