// Predictions by the rules of docs/reference/match-scoring.md, on lists of strings, one step after
// the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hoist::match::oracle {

using Event = std::vector<std::string>;
using Events = std::vector<Event>;

struct KnownPattern {
  std::string name;
  Events events;
  uint64_t frequency;
  std::vector<std::vector<std::pair<std::string, double>>> emotives;  // the rolling list
};

struct Knowledge {
  std::vector<KnownPattern> patterns;
  uint64_t total_pattern_frequencies = 0;
  std::map<std::string, uint64_t> occurrences;  // how often each symbol was learned
  std::map<std::string, double> affinity;       // to the one emotive there is
};

struct Rules {
  double threshold = 0.1;
  size_t max_predictions = 100;
  std::string rank = "potential";
  double fuzzy = 0;
  bool characters = false;
  bool weighted = false;
  bool whole_pattern_entropy = false;
};

struct Anomaly {
  std::string observed;
  std::string expected;
  double similarity;

  bool operator==(const Anomaly&) const = default;
};

struct Prediction {
  std::string name;
  Event matches;
  Events past, present, future;  // of one list where the state has one symbol
  Events missing, extras;        // the same
  std::vector<Anomaly> anomalies;
  std::vector<std::pair<std::string, double>> emotives;
  std::map<std::string, double> fields;  // all numbers, by their names
};

// Best first.
std::vector<Prediction> predict(const Knowledge& knowledge, const Events& state,
                                const Rules& rules);

// Aggregate potential, supporting patterns and total weighted frequency of the futures of the
// ensemble of predict(), best first.
struct Future {
  Events events;
  double potential;
  uint32_t patterns;
  double frequency;
};
std::vector<Future> futures(const Knowledge& knowledge, const Events& state, const Rules& rules);

}  // namespace hoist::match::oracle
