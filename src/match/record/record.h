// Records: what a prediction says about each pattern that the state recalls, field by field as KATO
// 3.10 computes it (docs/reference/match-scoring.md has every formula), in doubles with the same
// operations in the same order.
//
//   std::vector<Candidate> candidates = …;  // by search() with Scorer::kato and this threshold
//   Result<Prediction> prediction = predict(state, candidates, source, options);
//
// Candidates above three times the wanted number are first cut to that by the part of the potential
// that needs no other pattern; ensemble metrics are sums over those that are left, in order of
// their names; the wanted number of them is returned, by rank key. Ties are always broken by name.
//
// A state of one symbol is treated as the reference treats it: candidates are all patterns that
// begin with it (patterns_that_begin_with()), whatever the threshold; their parts are not aligned
// to events and they have no ensemble metrics (`is_flat`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "match/record/rank_key.h"
#include "match/record/record_source.h"

namespace hoist::match {

// A query. Symbols are vocabulary ids; a symbol that the vocabulary does not have has any id that
// no pattern has, the same wherever it occurs.
struct StateView {
  std::span<const uint32_t> symbols;
  std::span<const uint16_t> event_sizes;
  // The text of each symbol, UTF-8. May be empty unless texts are compared (fuzzy, characters).
  std::span<const std::string_view> texts;
};

struct RecordOptions {
  double threshold = 0.1;
  size_t max_predictions = 100;
  RankKey rank = RankKey::potential;
  // Above 0: a symbol of the state also matches the pattern's symbol whose text is most similar
  // (RapidFuzz fuzz.ratio / 100), if that reaches this.
  double fuzzy = 0.0;
  // Similarity of the texts joined by spaces instead of the LCS of symbols. Candidates are then all
  // patterns: predict() itself applies the threshold.
  bool characters = false;
  // Not empty: weighted fields by the affinity of symbols to this emotive, in the potential too.
  std::string_view affinity_emotive;
  // The affinity of a symbol's text, where the caller keeps its own; else the source's.
  std::function<double(std::string_view symbol)> affinity = {};
  // Entropies and tf-idf of the whole pattern instead of its present events, as the reference has
  // them after its training was finalised.
  bool whole_pattern_entropy = false;
  // All records of the ensemble (up to three times max_predictions), for a caller that ranks them.
  bool whole_ensemble = false;
  std::stop_token stop = {};
};

// A symbol of the state that matched one of the pattern that is not equal.
struct Anomaly {
  uint32_t observed;  // position in the state
  uint32_t expected;  // position in the pattern
  double similarity;

  bool operator==(const Anomaly&) const = default;
};

struct WeightedFields {
  double similarity;
  double evidence;
  double confidence;
  double snr;

  bool operator==(const WeightedFields&) const = default;
};

struct Record {
  uint64_t candidate;
  std::string name;
  uint64_t frequency = 0;
  std::vector<Emotive> emotives;  // averages, in order of first appearance

  std::vector<uint32_t> symbols;
  std::vector<uint16_t> event_sizes;
  // past is symbols[0..present_begin), future symbols[present_end..). At boundaries of events,
  // unless is_flat.
  uint32_t present_begin = 0;
  uint32_t present_end = 0;
  bool is_flat = false;

  std::vector<uint32_t> matches;               // positions in the state
  std::vector<std::vector<uint32_t>> missing;  // positions in the pattern, by present event
  std::vector<std::vector<uint32_t>> extras;   // positions in the state, by its events
  std::vector<Anomaly> anomalies;

  double similarity = 0;
  double evidence = 0;
  double confidence = 0;
  double snr = 0;
  double fragmentation = 0;
  double potential = 0;
  std::optional<WeightedFields> weighted;

  // Ensemble metrics, 0 if is_flat.
  double entropy = 0;
  double normalized_entropy = 0;
  double global_normalized_entropy = 0;
  double itfdf_similarity = 0;
  double tfidf_score = 0;
  double confluence = 0;
  double predictive_information = 0;
  double pattern_probability = 0;
  double weighted_strength = 0;
  double bayesian_posterior = 0;
  double bayesian_prior = 0;
  double bayesian_likelihood = 0;
};

// A future that records of the ensemble share, symbols inside events in any order.
struct FuturePotential {
  std::vector<uint32_t> symbols;
  std::vector<uint16_t> event_sizes;
  double aggregate_potential;
  uint32_t supporting_patterns;
  double total_weighted_frequency;
};

struct Prediction {
  std::vector<Record> records;           // best first
  std::vector<FuturePotential> futures;  // of the ensemble, best first, else by the first name
};

// On the pool's threads. `invalid_argument` for a state whose events do not cover its symbols, or
// without texts where they are compared; `cancelled`.
Result<Prediction> predict(const StateView& state, std::span<const Candidate> candidates,
                           const RecordSource& source, const RecordOptions& options,
                           ThreadPool& pool = ThreadPool::process());

}  // namespace hoist::match
