#include "match/fuzz/fuzz_scorer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "match/fuzz/ratios.h"

namespace hoist::match {
namespace {

using Kind = FuzzScorer::Kind;
using Value = FuzzScorer::Value;

constexpr std::array<std::string_view, 10> kMetrics = {
    "LCSseq",  "Indel",  "Levenshtein", "OSA",  "DamerauLevenshtein",
    "Hamming", "Prefix", "Postfix",     "Jaro", "JaroWinkler"};
constexpr std::array<std::string_view, 10> kRatios = {"ratio",
                                                      "partial_ratio",
                                                      "token_sort_ratio",
                                                      "token_set_ratio",
                                                      "token_ratio",
                                                      "partial_token_sort_ratio",
                                                      "partial_token_set_ratio",
                                                      "partial_token_ratio",
                                                      "WRatio",
                                                      "QRatio"};
constexpr std::array<std::string_view, 4> kValues = {
    "distance", "similarity", "normalized_distance", "normalized_similarity"};

template <size_t kSize>
std::optional<size_t> place_of(const std::array<std::string_view, kSize>& names,
                               std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<size_t>(found - names.begin());
}

// As RapidFuzz orders the arithmetic: a similarity is what its distance leaves of 1.
double normalized_score(Value value, double distance, std::optional<double> cutoff) {
  if (value == Value::normalized_distance) return cutoff && distance > *cutoff ? 1 : distance;
  const double similarity = 1.0 - distance;
  return cutoff && similarity < *cutoff ? 0 : similarity;
}

double jaro_score(const FuzzScorer& scorer, const Sequence& a, const Sequence& b,
                  std::optional<double> cutoff) {
  const double similarity = scorer.kind == Kind::jaro
                                ? jaro_similarity(a, b)
                                : jaro_winkler_similarity(a, b, scorer.prefix_weight);
  if (scorer.value == Value::similarity) return cutoff && similarity < *cutoff ? 0 : similarity;
  if (scorer.value == Value::normalized_similarity) {
    return normalized_score(scorer.value, 1.0 - similarity, cutoff);
  }
  return normalized_score(Value::normalized_distance, 1.0 - similarity, cutoff);
}

double metric_score(const FuzzScorer& scorer, const Sequence& a, const Sequence& b,
                    std::optional<double> cutoff) {
  if (scorer.kind >= Kind::jaro) return jaro_score(scorer, a, b, cutoff);
  uint64_t most = std::max(a.length, b.length);
  uint64_t distance = 0;
  switch (scorer.kind) {
    case Kind::osa:
      distance = osa_distance(a, b);
      break;
    case Kind::damerau_levenshtein:
      distance = damerau_levenshtein_distance(a, b);
      break;
    case Kind::hamming:
      distance = hamming_distance(a, b);
      break;
    case Kind::prefix:
      distance = most - common_prefix(a, b);
      break;
    case Kind::postfix:
      distance = most - common_suffix(a, b);
      break;
    default:
      most = scorer.weights.most(a.length, b.length);
      distance = weighted_distance(a, b, scorer.weights);
  }
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

double ratio_score(Kind kind, const Text& a, const Text& b, double cutoff) {
  using Ratio = double(const Text&, const Text&, double);
  static constexpr std::array<Ratio*, 10> kFunctions = {ratio,
                                                        partial_ratio,
                                                        token_sort_ratio,
                                                        token_set_ratio,
                                                        token_ratio,
                                                        partial_token_sort_ratio,
                                                        partial_token_set_ratio,
                                                        partial_token_ratio,
                                                        weighted_ratio,
                                                        quick_ratio};
  return kFunctions[static_cast<size_t>(kind) - static_cast<size_t>(Kind::ratio)](a, b, cutoff);
}

}  // namespace

std::optional<FuzzScorer> FuzzScorer::named(std::string_view name) {
  FuzzScorer scorer;
  if (const auto place = place_of(kRatios, name)) {
    scorer.kind = static_cast<Kind>(kMetrics.size() + *place);
    return scorer;
  }
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const auto metric = place_of(kMetrics, name.substr(0, dot));
  const auto value = place_of(kValues, name.substr(dot + 1));
  if (!metric || !value) return {};
  scorer.kind = static_cast<Kind>(*metric);
  scorer.value = static_cast<Value>(*value);
  return scorer;
}

std::optional<PairScorer> FuzzScorer::pair_scorer() const {
  if (kind == Kind::ratio) {
    return PairScorer{PairScorer::Family::indel, Value::normalized_similarity, true};
  }
  if (kind > Kind::levenshtein) return {};
  if (kind == Kind::levenshtein && !weights.are_uniform()) return {};
  return PairScorer{static_cast<PairScorer::Family>(kind), value, false};
}

double fuzz_score(const FuzzScorer& scorer, const Sequence& a, const Sequence& b,
                  std::optional<double> cutoff) {
  if (const auto pair = scorer.pair_scorer()) return pair_score(*pair, a, b, cutoff);
  if (!scorer.is_percent()) return metric_score(scorer, a, b, cutoff);
  // Short ones need no new memory, and long ones keep none.
  constexpr uint32_t kShort = 4096;
  thread_local std::vector<uint32_t> room_a;
  thread_local std::vector<uint32_t> room_b;
  std::vector<uint32_t> large_a;
  std::vector<uint32_t> large_b;
  const Symbols x = wide_symbols(a, a.length <= kShort ? room_a : large_a);
  const Symbols y = wide_symbols(b, b.length <= kShort ? room_b : large_b);
  return ratio_score(scorer.kind, {x, a.width == 1}, {y, b.width == 1}, cutoff.value_or(0));
}

Symbols wide_symbols(const Sequence& sequence, std::vector<uint32_t>& room) {
  return with_symbols(sequence, [&](const auto& symbols) -> Symbols {
    if constexpr (sizeof(symbols[0]) == sizeof(uint32_t)) {
      return symbols;
    } else {
      room.assign(symbols.begin(), symbols.end());
      return room;
    }
  });
}

}  // namespace hoist::match
