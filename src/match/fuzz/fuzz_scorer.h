// Every scorer of RapidFuzz by one call, with its cut-offs.
//
//   const auto scorer = FuzzScorer::named("OSA.normalized_similarity");
//   double score = fuzz_score(*scorer, a, b, 0.8);  // 0 where they are less alike
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "match/fuzz/edit_distances.h"
#include "match/pairs/pair_scorer.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

struct FuzzScorer {
  enum class Kind : uint8_t {
    lcs,
    indel,
    levenshtein,
    osa,
    damerau_levenshtein,
    hamming,
    prefix,
    postfix,
    jaro,
    jaro_winkler,
    ratio,
    partial_ratio,
    token_sort_ratio,
    token_set_ratio,
    token_ratio,
    partial_token_sort_ratio,
    partial_token_set_ratio,
    partial_token_ratio,
    weighted_ratio,
    quick_ratio,
  };
  using Value = PairScorer::Value;

  // "OSA.distance", "JaroWinkler.similarity", …; "partial_ratio", "WRatio", …
  static std::optional<FuzzScorer> named(std::string_view name);

  bool is_percent() const { return kind >= Kind::ratio; }
  bool is_count() const {
    return kind < Kind::jaro && (value == Value::distance || value == Value::similarity);
  }
  bool is_distance() const {
    return !is_percent() && (value == Value::distance || value == Value::normalized_distance);
  }
  // What a pair without a sequence gets.
  double worst() const { return is_distance() ? 1 : 0; }

  // Whether no pair can have a better score; of similarities that count, that is not known.
  bool is_best(double score) const {
    if (is_distance()) return score == 0;
    return !is_count() && score == (is_percent() ? 100 : 1);
  }

  // What match/pairs has of it, which knows faster ways for many pairs.
  std::optional<PairScorer> pair_scorer() const;

  Kind kind = Kind::ratio;
  Value value = Value::normalized_similarity;
  EditWeights weights;         // of Levenshtein
  double prefix_weight = 0.1;  // of JaroWinkler
  // RapidFuzz's process takes a Jaro similarity as it is; its normalized_similarity() of a pair is
  // what its distance leaves of 1.
  bool is_of_process = false;
};

// Beyond the cut-off similarities and ratios are 0, distances one more than the cut-off, normalized
// distances and those of Jaro 1.
// Once `stop` is requested, those that have a pair_scorer() return soon, and what they return is
// undefined.
double fuzz_score(const FuzzScorer& scorer, const Sequence& a, const Sequence& b,
                  std::optional<double> cutoff, const std::stop_token& stop = {});

// The symbols of a sequence, copied into `room` unless they have 32 bits already.
Symbols wide_symbols(const Sequence& sequence, std::vector<uint32_t>& room);

}  // namespace hoist::match
