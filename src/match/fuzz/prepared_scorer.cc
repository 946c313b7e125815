#include "match/fuzz/prepared_scorer.h"

#include <algorithm>

#include "match/fuzz/edit_distances.h"
#include "match/fuzz/masked_counts.h"
#include "match/fuzz/place_counts.h"

namespace hoist::match {
namespace {

using Kind = FuzzScorer::Kind;
using Value = FuzzScorer::Value;

// The equal symbols at the beginning that count in Winkler's similarity.
uint64_t short_prefix(const Sequence& a, const Sequence& b) {
  if (a.width != 1 || b.width != 1) return counted_prefix(common_prefix(a, b));
  const auto* const x = static_cast<const uint8_t*>(a.symbols);
  const auto* const y = static_cast<const uint8_t*>(b.symbols);
  const uint64_t most = counted_prefix(std::min(a.length, b.length));
  uint64_t size = 0;
  while (size < most && x[size] == y[size]) ++size;
  return size;
}

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
  const bool is_exact = scorer.value == Value::similarity ||
                        (scorer.value == Value::normalized_similarity && scorer.is_of_process);
  if (is_exact) return cutoff && similarity < *cutoff ? 0 : similarity;
  if (scorer.value == Value::normalized_similarity) {
    return normalized_score(scorer.value, 1.0 - similarity, cutoff);
  }
  return normalized_score(Value::normalized_distance, 1.0 - similarity, cutoff);
}

void PreparedScorer::set(const FuzzScorer& scorer, const Sequence& query) {
  scorer_ = scorer;
  pair_ = scorer.pair_scorer();
  count_ = Count::none;
  query_ = query;
  const Kind kind = scorer.kind;
  if (kind >= Kind::hamming && kind <= Kind::postfix) return;
  symbols_ = wide_symbols(query, query_room_);
  const bool is_ratio = kind == Kind::ratio || kind == Kind::quick_ratio;
  if (scorer.is_percent() && !is_ratio) return ratios_.set({symbols_, query.width == 1});
  if (is_ratio) pair_ = kRatio;
  if (pair_) {
    count_ = pair_->counts() == PairCount::lcs ? Count::lcs : Count::levenshtein;
  } else if (kind == Kind::osa) {
    count_ = Count::osa;
  } else if (kind == Kind::levenshtein && scorer.weights.are_of_one_cost()) {
    count_ = scorer.weights.are_indels() ? Count::lcs : Count::levenshtein;
  }
  const bool is_masked = query.length <= kMostMasked || !pair_;
  const bool is_jaro = kind == Kind::jaro || kind == Kind::jaro_winkler;
  if (is_jaro || (count_ != Count::none && is_masked)) masks_.set(symbols_);
}

double PreparedScorer::score_of(uint64_t count, uint64_t n, std::optional<double> cutoff) const {
  const uint64_t m = query_.length;
  if (scorer_.kind == Kind::levenshtein && !pair_) {
    const uint64_t edits = count_ == Count::lcs ? m + n - 2 * count : count;
    return score_of_distance(scorer_, scorer_.weights.insertion * edits, scorer_.weights.most(m, n),
                             cutoff);
  }
  if (!pair_) return score_of_distance(scorer_, count, std::max(m, n), cutoff);
  if (!scorer_.is_percent()) return pair_->score(count, m, n, cutoff);
  if (scorer_.kind == Kind::quick_ratio && (m == 0 || n == 0)) return 0;
  if (is_ratio_below(count, m + n, cutoff.value_or(0))) return 0;
  return pair_->score(count, m, n, cutoff.value_or(0));
}

// Whether the lengths alone tell: so many symbols at least differ, or so many at most are equal.
bool PreparedScorer::is_beyond(uint64_t n, std::optional<double> cutoff) const {
  const uint64_t m = query_.length;
  if (!cutoff || m == n) return false;
  const auto [shorter, longer] = std::minmax(m, n);
  if (scorer_.is_percent()) return is_ratio_below(shorter, m + n, *cutoff);
  const double score = score_of(count_ == Count::lcs ? shorter : longer - shorter, n, cutoff);
  return scorer_.is_distance() ? score > *cutoff : score < *cutoff;
}

double PreparedScorer::beyond(double cutoff) const {
  if (!scorer_.is_distance()) return 0;
  return scorer_.is_count() ? cutoff + 1 : 1;
}

void PreparedScorer::score_four(const Sequence* const* others, std::optional<double> cutoff,
                                double* scores) {
  FourSequences four = {{}, others[0]->length};
  bool is_alike = count_ != Count::none && query_.length <= 64 && four.length <= kMostMasked;
  for (size_t k = 0; k < kFour; ++k) {
    is_alike = is_alike && others[k]->width == 1 && others[k]->length == four.length;
    four.symbols[k] = static_cast<const uint8_t*>(others[k]->symbols);
  }
  if (!is_alike) {
    for (size_t k = 0; k < kFour; ++k) scores[k] = score(*others[k], cutoff);
    return;
  }
  if (is_beyond(four.length, cutoff)) {
    std::fill_n(scores, kFour, beyond(*cutoff));
    return;
  }
  uint64_t counts[kFour];
  if (count_ == Count::lcs) {
    lcs_lengths(masks_, four, counts);
  } else if (count_ == Count::levenshtein) {
    levenshtein_distances(masks_, four, counts);
  } else {
    osa_distances(masks_, four, counts);
  }
  for (size_t k = 0; k < kFour; ++k) scores[k] = score_of(counts[k], four.length, cutoff);
}

double PreparedScorer::percent(const Sequence& other, double cutoff) {
  using Ratio = double (Ratios::*)(const Text&, double);
  static constexpr Ratio kFunctions[] = {
      &Ratios::partial_ratio,
      &Ratios::token_sort_ratio,
      &Ratios::token_set_ratio,
      static_cast<Ratio>(&Ratios::token_ratio),
      &Ratios::partial_token_sort_ratio,
      &Ratios::partial_token_set_ratio,
      static_cast<Ratio>(&Ratios::partial_token_ratio),
      &Ratios::weighted_ratio,
  };
  const auto place = static_cast<size_t>(scorer_.kind) - static_cast<size_t>(Kind::partial_ratio);
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
      return damerau_levenshtein_distance(query_, other);
    default:
      return weighted_distance(query_, other, scorer_.weights);
  }
}

double PreparedScorer::score(const Sequence& other, std::optional<double> cutoff) {
  const uint64_t m = query_.length;
  const uint64_t n = other.length;
  if (count_ != Count::none) {
    if (is_beyond(n, cutoff)) return beyond(*cutoff);
    if (count_ == Count::osa) return score_of(osa_distance(masks_, other), n, cutoff);
    if (!pair_ || std::max(m, n) <= kMostMasked) {
      const bool is_lcs = count_ == Count::lcs;
      return score_of(is_lcs ? lcs_length(masks_, other) : levenshtein_distance(masks_, other), n,
                      cutoff);
    }
    if (scorer_.kind == Kind::quick_ratio && (m == 0 || n == 0)) return 0;
    return pair_score(*pair_, query_, other, cutoff);
  }
  if (scorer_.is_percent()) return percent(other, cutoff.value_or(0));
  if (scorer_.kind >= Kind::jaro) return jaro(other, cutoff);
  if (scorer_.kind == Kind::levenshtein) {
    const uint64_t most = scorer_.weights.most(m, n);
    const uint64_t least =
        m > n ? (m - n) * scorer_.weights.deletion : (n - m) * scorer_.weights.insertion;
    if (cutoff) {
      const double score = score_of_distance(scorer_, least, most, cutoff);
      if (scorer_.is_distance() ? score > *cutoff : score < *cutoff) return score;
    }
    return score_of_distance(scorer_, distance(other), most, cutoff);
  }
  if (is_beyond(n, cutoff)) return beyond(*cutoff);
  return score_of_distance(scorer_, distance(other), std::max(m, n), cutoff);
}

double PreparedScorer::jaro(const Sequence& other, std::optional<double> cutoff) const {
  const uint64_t m = query_.length;
  const uint64_t n = other.length;
  if (m == 0 || n == 0) return score_of_jaro(scorer_, m == n ? 1.0 : 0.0, cutoff);
  const bool is_winkler = scorer_.kind == Kind::jaro_winkler;
  const uint64_t prefix = is_winkler ? short_prefix(query_, other) : 0;
  uint64_t least = 0;
  if (cutoff) {
    // The similarity that is wanted, then that before the prefix counts, then the symbols that are
    // common at least, whatever their order and the rounding.
    double wanted = scorer_.is_distance() ? 1.0 - *cutoff : *cutoff;
    const double share = static_cast<double>(prefix) * scorer_.prefix_weight;
    if (share < 1) {
      const double before = (wanted - share) / (1.0 - share);
      wanted = std::min(wanted, std::max(kLeastForPrefix, before));
    } else {
      wanted = std::min(wanted, kLeastForPrefix);
    }
    const double symbols = static_cast<double>(m * n) / static_cast<double>(m + n);
    const double common = (3.0 * (wanted - 1e-7) - 1.0) * symbols;
    if (common > 0) least = static_cast<uint64_t>(common);
    if (least > std::min(m, n)) return beyond(*cutoff);
  }
  const CommonSymbols found = common_symbols(masks_, other, least);
  if (found.count < least) return beyond(*cutoff);
  double similarity = jaro_of(found, m, n);
  if (is_winkler && similarity > kLeastForPrefix) {
    similarity = with_prefix(similarity, prefix, scorer_.prefix_weight);
  }
  return score_of_jaro(scorer_, similarity, cutoff);
}

}  // namespace hoist::match
