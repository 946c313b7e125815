#include "match/fuzz/prepared_scorer.h"

#include <algorithm>

#include "match/fuzz/edit_distances.h"
#include "match/fuzz/masked_counts.h"
#include "match/fuzz/place_counts.h"

namespace hoist::match {
namespace {

using Kind = FuzzScorer::Kind;
using Value = FuzzScorer::Value;

// Longer sequences are compared within bands of the matrix, where the cut-off allows.
constexpr size_t kMostMasked = 512;

// As RapidFuzz orders the arithmetic: a similarity is what its distance leaves of 1.
double normalized_score(Value value, double distance, std::optional<double> cutoff) {
  if (value == Value::normalized_distance) return cutoff && distance > *cutoff ? 1 : distance;
  const double similarity = 1.0 - distance;
  return cutoff && similarity < *cutoff ? 0 : similarity;
}

}  // namespace

double score_of_distance(const FuzzScorer& scorer, uint64_t distance, uint64_t most,
                         std::optional<double> cutoff) {
  if (scorer.value == Value::distance) {
    const auto exact = static_cast<double>(distance);
    return cutoff && exact > *cutoff ? *cutoff + 1 : exact;
  }
  if (scorer.value == Value::similarity) {
    const auto similarity = static_cast<double>(most - distance);
    return cutoff && similarity < *cutoff ? 0 : similarity;
  }
  const double share = most == 0 ? 0 : static_cast<double>(distance) / static_cast<double>(most);
  return normalized_score(scorer.value, share, cutoff);
}

double score_of_jaro(const FuzzScorer& scorer, double similarity, std::optional<double> cutoff) {
  if (scorer.value == Value::similarity) return cutoff && similarity < *cutoff ? 0 : similarity;
  if (scorer.value == Value::normalized_similarity) {
    return normalized_score(scorer.value, 1.0 - similarity, cutoff);
  }
  return normalized_score(Value::normalized_distance, 1.0 - similarity, cutoff);
}

void PreparedScorer::set(const FuzzScorer& scorer, const Sequence& query) {
  scorer_ = scorer;
  pair_ = scorer.pair_scorer();
  query_ = query;
  const Kind kind = scorer.kind;
  if (kind >= Kind::hamming && kind <= Kind::postfix) return;
  symbols_ = wide_symbols(query, query_room_);
  if (scorer.is_percent()) return ratios_.set({symbols_, query.width == 1});
  const bool has_masks =
      pair_ ? query.length <= kMostMasked : kind == Kind::osa || kind >= Kind::jaro;
  if (has_masks) masks_.set(symbols_);
}

double PreparedScorer::pair_score(const Sequence& other, std::optional<double> cutoff) const {
  const uint64_t m = query_.length;
  const uint64_t n = other.length;
  if (std::max(m, n) > kMostMasked) return match::pair_score(*pair_, query_, other, cutoff);
  const bool is_lcs = pair_->counts() == PairCount::lcs;
  if (cutoff && m != n) {
    const uint64_t best = is_lcs ? std::min(m, n) : std::max(m, n) - std::min(m, n);
    const double score = pair_->score(best, m, n, cutoff);
    const bool is_beyond = scorer_.is_distance() ? score > *cutoff : score < *cutoff;
    if (is_beyond) return score;
  }
  const uint64_t count = is_lcs ? lcs_length(masks_, other) : levenshtein_distance(masks_, other);
  return pair_->score(count, m, n, cutoff);
}

double PreparedScorer::percent(const Sequence& other, double cutoff) {
  using Ratio = double (Ratios::*)(const Text&, double);
  static constexpr Ratio kFunctions[] = {
      &Ratios::ratio,
      &Ratios::partial_ratio,
      &Ratios::token_sort_ratio,
      &Ratios::token_set_ratio,
      static_cast<Ratio>(&Ratios::token_ratio),
      &Ratios::partial_token_sort_ratio,
      &Ratios::partial_token_set_ratio,
      static_cast<Ratio>(&Ratios::partial_token_ratio),
      &Ratios::weighted_ratio,
      &Ratios::quick_ratio,
  };
  const auto place = static_cast<size_t>(scorer_.kind) - static_cast<size_t>(Kind::ratio);
  const Text text(wide_symbols(other, other_room_), other.width == 1);
  return (ratios_.*kFunctions[place])(text, cutoff);
}

uint64_t PreparedScorer::distance(const Sequence& other) {
  const uint64_t most = std::max(query_.length, other.length);
  switch (scorer_.kind) {
    case Kind::osa:
      return osa_distance(masks_, other);
    case Kind::hamming:
      return hamming_distance(query_, other);
    case Kind::prefix:
      return most - common_prefix(query_, other);
    case Kind::postfix:
      return most - common_suffix(query_, other);
    case Kind::damerau_levenshtein:
      return damerau_levenshtein_distance(symbols_, wide_symbols(other, other_room_));
    default:
      return weighted_distance(symbols_, wide_symbols(other, other_room_), scorer_.weights);
  }
}

double PreparedScorer::score(const Sequence& other, std::optional<double> cutoff) {
  if (scorer_.is_percent()) return percent(other, cutoff.value_or(0));
  if (pair_) return pair_score(other, cutoff);
  const uint64_t m = query_.length;
  const uint64_t n = other.length;
  if (scorer_.kind < Kind::jaro) {
    const uint64_t most =
        scorer_.kind == Kind::levenshtein ? scorer_.weights.most(m, n) : std::max(m, n);
    return score_of_distance(scorer_, distance(other), most, cutoff);
  }
  double similarity = m == 0 && n == 0 ? 1.0 : 0.0;
  if (m != 0 && n != 0) similarity = jaro_of(common_symbols(masks_, other), m, n);
  if (scorer_.kind == Kind::jaro_winkler && similarity > kLeastForPrefix) {
    similarity = with_prefix(similarity, common_prefix(query_, other), scorer_.prefix_weight);
  }
  return score_of_jaro(scorer_, similarity, cutoff);
}

}  // namespace hoist::match
