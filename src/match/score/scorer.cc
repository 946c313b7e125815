#include "match/score/scorer.h"

#include <algorithm>
#include <array>

#include "match/score/opcodes.h"

namespace hoist::match {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"kato",        "lcs",     "indel",
                                                    "levenshtein", "difflib", "difflib-autojunk"};

double kato_percent(uint64_t lcs, uint64_t total) {
  if (total == 0) return 0.0;
  return 2.0 * static_cast<double>(lcs) / static_cast<double>(total) * 100.0;
}

Score distance_score(uint64_t distance, uint64_t largest) {
  return {static_cast<double>(largest - distance), normalized_similarity(distance, largest)};
}

// What the raw count would be at most, or the distance at least, with this LCS.
uint64_t raw_for_lcs(Scorer scorer, uint64_t lcs, uint64_t n, uint64_t m) {
  return scorer == Scorer::levenshtein ? std::max(n, m) - lcs : lcs;
}

}  // namespace

std::string_view name(Scorer scorer) { return kNames[static_cast<size_t>(scorer)]; }

std::optional<Scorer> scorer_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return {};
  return static_cast<Scorer>(found - kNames.begin());
}

double normalized_distance(uint64_t distance, uint64_t largest) {
  return largest == 0 ? 0.0 : static_cast<double>(distance) / static_cast<double>(largest);
}

double normalized_similarity(uint64_t distance, uint64_t largest) {
  return 1.0 - normalized_distance(distance, largest);
}

Score score_of(Scorer scorer, uint64_t raw, uint64_t n, uint64_t m) {
  switch (scorer) {
    case Scorer::kato: {
      const double similarity = kato_percent(raw, n + m) / 100.0;
      return {similarity, similarity};
    }
    case Scorer::lcs:
      return distance_score(std::max(n, m) - raw, std::max(n, m));
    case Scorer::indel:
      return distance_score(n + m - 2 * raw, n + m);
    case Scorer::levenshtein:
      return distance_score(raw, std::max(n, m));
    case Scorer::difflib:
    case Scorer::difflib_autojunk:
      break;
  }
  const double ratio = difflib_ratio(raw, n + m);
  return {ratio, ratio};
}

bool reaches(Scorer scorer, uint64_t raw, uint64_t n, uint64_t m, double threshold) {
  if (scorer == Scorer::kato && !(kato_percent(raw, n + m) >= threshold * 100.0 - 1e-6)) {
    return false;
  }
  return score_of(scorer, raw, n, m).normalized >= threshold;
}

std::optional<uint32_t> least_lcs(Scorer scorer, uint32_t n, uint32_t m, double threshold) {
  const auto enough = [&](uint32_t lcs) {
    return reaches(scorer, raw_for_lcs(scorer, lcs, n, m), n, m, threshold);
  };
  // Every operation rounds monotonically, so `enough` is monotone.
  uint32_t low = 0;
  uint32_t high = std::min(n, m);
  if (!enough(high)) return {};
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace hoist::match
