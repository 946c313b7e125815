#include "service/session/session_parts.h"

#include <chrono>
#include <limits>

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

bool set_times(Session& session, int64_t created, int64_t ttl, int64_t expires) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1'000'000;  // as nanoseconds
  for (const int64_t milliseconds : {created, expires}) {
    if (milliseconds < 0 || milliseconds > kMost) return false;
  }
  if (ttl < 0 || ttl > kMost / 1000) return false;
  session.created = std::chrono::system_clock::time_point(Milliseconds(created));
  session.ttl_seconds = ttl;
  session.expires_ms = expires;
  return true;
}

}  // namespace hoist::service
