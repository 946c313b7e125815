// What a prepared sequence and another one have in common, or how far they are from each other, by
// bits: an LCS, Levenshtein distances, those of optimal string alignment, and Jaro's symbols.
#pragma once

#include <cstdint>
#include <span>

#include "match/fuzz/query_masks.h"
#include "match/pairs/byte_symbols.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

uint64_t lcs_length(const QueryMasks& masks, const Sequence& other);
uint64_t levenshtein_distance(const QueryMasks& masks, const Sequence& other);
uint64_t osa_distance(const QueryMasks& masks, const Sequence& other);

// The same of four sequences of one length, of bytes, with a prepared one of at most 64 symbols:
// the steps of each wait for those before, and four take little longer than one.
inline constexpr size_t kFour = 4;
struct FourSequences {
  const uint8_t* symbols[kFour];
  size_t length;
};
void lcs_lengths(const QueryMasks& masks, const FourSequences& others, uint64_t* counts);
void levenshtein_distances(const QueryMasks& masks, const FourSequences& others, uint64_t* counts);
void osa_distances(const QueryMasks& masks, const FourSequences& others, uint64_t* counts);

// Symbols of both, each within reach of the other: every symbol of the other takes the first free
// one of the prepared sequence.
struct CommonSymbols {
  uint64_t count = 0;
  uint64_t moved = 0;  // those whose order differs
};
// Where they are fewer than `least`, it need not say how many have moved.
CommonSymbols common_symbols(const QueryMasks& masks, const Sequence& other, uint64_t least = 0);

// The same of bytes with masks of a thread's, of 1 to 64 symbols in one word.
uint64_t osa_distance(const ThreadMasks& masks, std::span<const uint8_t> other);
CommonSymbols common_symbols(const ThreadMasks& masks, std::span<const uint8_t> other);

// Jaro's similarity of sequences of lengths m and n, neither empty.
inline double jaro_of(const CommonSymbols& found, uint64_t m, uint64_t n) {
  if (found.count == 0) return 0.0;
  const auto common = static_cast<double>(found.count);
  double sum = common / static_cast<double>(m);
  sum += common / static_cast<double>(n);
  sum += (common - static_cast<double>(found.moved / 2)) / common;
  return sum / 3.0;
}

// How far from each other symbols may be that are common to sequences of these lengths.
inline uint64_t jaro_reach(uint64_t m, uint64_t n) {
  const uint64_t half = (m > n ? m : n) / 2;
  return half > 1 ? half - 1 : 0;
}

}  // namespace hoist::match
