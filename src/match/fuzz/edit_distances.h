// Distances beside those of match/pairs: what RapidFuzz's metrics count, on symbols of any width.
//
// Equal beginnings and ends are skipped where that changes nothing. What is left takes time by the
// product of the lengths, 64 cells a step (osa), or one (damerau_levenshtein, weighted), or by
// their sum.
#pragma once

#include <cstdint>
#include <span>

#include "match/pairs/sequence_list.h"

namespace hoist::match {

using Symbols = std::span<const uint32_t>;

inline Sequence as_sequence(Symbols symbols) { return {symbols.data(), symbols.size()}; }

struct EditWeights {
  uint64_t insertion = 1;
  uint64_t deletion = 1;
  uint64_t replacement = 1;

  bool are_uniform() const { return insertion == 1 && deletion == 1 && replacement == 1; }
  // Whether all edits cost the same, or a replacement is never cheaper than two others: then it is
  // the cost of one insertion times the Levenshtein distance, or what an LCS leaves.
  bool are_of_one_cost() const {
    return insertion == deletion && (replacement == insertion || are_indels());
  }
  bool are_indels() const { return replacement >= insertion + deletion; }
  // The most that edits from m symbols to n cost.
  uint64_t most(uint64_t m, uint64_t n) const;
};

// Levenshtein distance with a cost for each kind of edit.
uint64_t weighted_distance(const Sequence& a, const Sequence& b, const EditWeights& weights);

// Edits and transpositions of neighbours; no part is edited twice (optimal string alignment).
uint64_t osa_distance(const Sequence& a, const Sequence& b);

// The same, with edits between what is transposed (R. Lowrance and R. Wagner, "An extension of the
// string-to-string correction problem", 1975).
uint64_t damerau_levenshtein_distance(const Sequence& a, const Sequence& b);

// M. Jaro, "Advances in record-linkage methodology", 1989: 0 to 1.
double jaro_similarity(const Sequence& a, const Sequence& b);
// W. Winkler, "String comparator metrics", 1990: above 0.7, up to four equal symbols at the
// beginning count `prefix_weight` each.
double jaro_winkler_similarity(const Sequence& a, const Sequence& b, double prefix_weight);
inline constexpr double kLeastForPrefix = 0.7;  // and no less
inline uint64_t counted_prefix(uint64_t prefix) { return prefix < 4 ? prefix : 4; }
double with_prefix(double jaro, uint64_t prefix, double prefix_weight);

}  // namespace hoist::match
