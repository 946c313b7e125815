// What a session may set, each value or none; where it sets none the service's default holds.
//
// Keys, ranges and messages are the reference's. Keys of its candidate filters are checked and
// kept, but have nothing to do: the index finds every pattern without them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "match/record/rank_key.h"

namespace hoist::service {

class SessionConfig {
 public:
  using Json = nlohmann::ordered_json;
  // By key, why its value is refused.
  using Faults = std::map<std::string, std::string>;

  // Sets what `updates`, an object, has, all of it or, with faults, nothing. Unknown keys are
  // ignored; null takes a value away. A mode of short-term memory that is none becomes "CLEAR".
  Faults update(const Json& updates);

  // The defaults with what was set.
  Json effective() const;
  // What was set alone.
  const Json& set() const { return values_; }

  double recall_threshold() const;
  size_t max_predictions() const;
  size_t max_pattern_length() const;
  bool is_rolling() const;
  bool use_token_matching() const;
  double fuzzy_token_threshold() const;
  match::RankKey rank() const;
  std::string affinity_emotive() const;  // empty: none

  // What the service's configuration sets for all sessions: in place of what it set before, or,
  // with faults, not at all. An unknown key is a fault here, and so is an unknown mode of
  // short-term memory. Sessions may be asked meanwhile.
  static Faults set_defaults(const Json& updates);

 private:
  Json value(const char* key) const;

  Json values_ = Json::object();
};

}  // namespace hoist::service
