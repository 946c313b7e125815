// What a client observes at once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "match/store/stored_pattern.h"

namespace hoist::service {

struct Observation {
  std::vector<std::string> strings = {};
  std::vector<std::vector<double>> vectors = {};
  match::Emotives emotives = {};  // ascending by name
  nlohmann::ordered_json metadata = nlohmann::ordered_json::object();
  std::string unique_id = {};  // may be empty
};

}  // namespace hoist::service
