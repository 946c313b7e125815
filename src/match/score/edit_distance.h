// Longest common subsequence and Levenshtein distance, bit-parallel: 64 symbols of the query a
// word. Exact for every length; sequences and queries of any symbols.
//
//   const MatchMasks masks(query);
//   size_t lcs = lcs_length(masks, pattern);
//
// H. Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): after each symbol of the
// sequence, bit i of S is 0 where row i of the dynamic-programming matrix steps up, so that the
// length is the number of zero bits. With U = S & mask: S = (S + U) | (S - U).
// H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances" (2003),
// the blocked form of G. Myers's (1999).
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "match/score/match_masks.h"

namespace hoist::match {

// O(sequence) for queries of at most 64 symbols, else O(sequence * words) at worst; words that a
// symbol does not touch and no carry reaches are skipped. Once `stop` is requested, it returns
// soon, and what it returns is undefined.
size_t lcs_length(const MatchMasks& query, std::span<const uint32_t> sequence,
                  const std::stop_token& stop = {});

// O(sequence * words). Cancelled as above.
size_t levenshtein_distance(const MatchMasks& query, std::span<const uint32_t> sequence,
                            const std::stop_token& stop = {});

}  // namespace hoist::match
