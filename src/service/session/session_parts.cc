#include "service/session/session_parts.h"

#include <chrono>

namespace hoist::service {

using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

Json emotives_json(const match::Emotives& emotives) {
  Json list = Json::array();
  for (const auto& [name, value] : emotives) list.push_back({name, value});
  return list;
}

match::Emotives emotives_of(const Json& list) {
  match::Emotives emotives;
  for (const Json& pair : list) {
    emotives.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<double>());
  }
  return emotives;
}

Json observation_json(const Observation& observation) {
  return {{"strings", observation.strings},
          {"vectors", observation.vectors},
          {"emotives", emotives_json(observation.emotives)},
          {"metadata", observation.metadata}};
}

Observation observation_of(const Json& json) {
  return {.strings = json.at("strings"),
          .vectors = json.at("vectors"),
          .emotives = emotives_of(json.at("emotives")),
          .metadata = json.at("metadata"),
          .unique_id = {}};
}

int64_t milliseconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<Milliseconds>(time.time_since_epoch()).count();
}

std::chrono::system_clock::time_point time_of(int64_t milliseconds) {
  return std::chrono::system_clock::time_point(Milliseconds(milliseconds));
}

}  // namespace hoist::service
