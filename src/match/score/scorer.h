// The scores of a pair of sequences, as the programs define them that people know them from, in
// doubles with the same operations in the same order, so that they are equal bit for bit.
//
//   kato         2 * LCS / (n + m), by way of percent: 2/3 is 0.6666666666666665, as in KATO
//   lcs          RapidFuzz's LCSseq: LCS and max(n, m) - LCS, over max(n, m)
//   indel        RapidFuzz's Indel: n + m - 2 * LCS, over n + m
//   levenshtein  RapidFuzz's Levenshtein with unit costs, over max(n, m)
//   difflib      Python's SequenceMatcher.ratio(), without and with autojunk
//
// Every one of them is at most what it would be if the number of symbols in common in order were
// the LCS: a scan for LCS finds all candidates of all scorers (least_lcs), and only levenshtein
// and difflib must look at them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hoist::match {

enum class Scorer : uint8_t { kato, lcs, indel, levenshtein, difflib, difflib_autojunk };

// "kato", "lcs", "indel", "levenshtein", "difflib", "difflib-autojunk".
std::string_view name(Scorer scorer);
std::optional<Scorer> scorer_named(std::string_view name);

// The LCS alone gives the score.
constexpr bool needs_only_lcs(Scorer scorer) {
  return scorer == Scorer::kato || scorer == Scorer::lcs || scorer == Scorer::indel;
}

// What RapidFuzz makes of a distance and of the largest one that there is: 0 and 1 where that is 0.
// Both round monotonically.
double normalized_distance(uint64_t distance, uint64_t largest);
double normalized_similarity(uint64_t distance, uint64_t largest);

// RapidFuzz holds cut-offs of normalized scores in 32 bits, which decides exact ties: 0.4 is not
// reached by a score of 0.4. So do pairs and matrices here. A search's threshold is not a cut-off
// of RapidFuzz's: it is compared as it is given.
inline double held_cutoff(double cutoff) { return static_cast<float>(cutoff); }

// Score of sequences of lengths n and m. `raw` is what the scorer counts: the LCS; for levenshtein
// the distance; for difflib the symbols in blocks. `normalized` is in 0..1, 1 for equal sequences
// (but 0 for two empty ones in kato).
struct Score {
  double value;       // the scorer's own similarity: a count in lcs, indel, levenshtein
  double normalized;  // to which thresholds apply
};
Score score_of(Scorer scorer, uint64_t raw, uint64_t n, uint64_t m);

// Whether a pair with this raw count reaches the threshold. In kato both of its comparisons count:
// percent >= threshold * 100 - 1e-6, and similarity >= threshold.
bool reaches(Scorer scorer, uint64_t raw, uint64_t n, uint64_t m, double threshold);

// The smallest LCS with which sequences of lengths n and m can reach the threshold; nothing where
// none can. Exact for scorers that need only the LCS: they reach it with every LCS from there on,
// with none below.
std::optional<uint32_t> least_lcs(Scorer scorer, uint32_t n, uint32_t m, double threshold);

}  // namespace hoist::match
