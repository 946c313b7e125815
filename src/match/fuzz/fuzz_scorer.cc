#include "match/fuzz/fuzz_scorer.h"

#include <algorithm>
#include <array>
#include <vector>

#include "match/fuzz/place_counts.h"
#include "match/fuzz/prepared_scorer.h"

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

double metric_score(const FuzzScorer& scorer, const Sequence& a, const Sequence& b,
                    std::optional<double> cutoff) {
  uint64_t most = std::max(a.length, b.length);
  switch (scorer.kind) {
    case Kind::jaro:
      return score_of_jaro(scorer, jaro_similarity(a, b), cutoff);
    case Kind::jaro_winkler:
      return score_of_jaro(scorer, jaro_winkler_similarity(a, b, scorer.prefix_weight), cutoff);
    case Kind::osa:
      return score_of_distance(scorer, osa_distance(a, b), most, cutoff);
    case Kind::damerau_levenshtein:
      return score_of_distance(scorer, damerau_levenshtein_distance(a, b), most, cutoff);
    case Kind::hamming:
      return score_of_distance(scorer, hamming_distance(a, b), most, cutoff);
    case Kind::prefix:
      return score_of_distance(scorer, most - common_prefix(a, b), most, cutoff);
    case Kind::postfix:
      return score_of_distance(scorer, most - common_suffix(a, b), most, cutoff);
    default:
      most = scorer.weights.most(a.length, b.length);
      return score_of_distance(scorer, weighted_distance(a, b, scorer.weights), most, cutoff);
  }
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
  if (kind == Kind::levenshtein && !weights.are_uniform()) {
    const bool are_indels = weights.insertion == 1 && weights.deletion == 1 && weights.are_indels();
    if (!are_indels) return {};
    return PairScorer{PairScorer::Family::indel, value, false};
  }
  return PairScorer{static_cast<PairScorer::Family>(kind), value, false};
}

double fuzz_score(const FuzzScorer& scorer, const Sequence& a, const Sequence& b,
                  std::optional<double> cutoff, const std::stop_token& stop) {
  if (const auto pair = scorer.pair_scorer()) return pair_score(*pair, a, b, cutoff, stop);
  if (scorer.kind == Kind::quick_ratio) {
    return a.length == 0 || b.length == 0 ? 0 : pair_score(kRatio, a, b, cutoff.value_or(0), stop);
  }
  if (!scorer.is_percent()) return metric_score(scorer, a, b, cutoff);
  // Short ones need no new memory, and long ones keep none.
  constexpr uint32_t kShort = 4096;
  const auto score = [&](PreparedScorer& prepared) {
    prepared.set(scorer, a);
    return prepared.score(b, cutoff);
  };
  if (std::max(a.length, b.length) <= kShort) {
    thread_local PreparedScorer prepared;
    return score(prepared);
  }
  PreparedScorer prepared;
  return score(prepared);
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
