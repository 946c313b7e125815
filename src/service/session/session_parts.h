// Parts of a session as JSON, for the store. Readers throw nlohmann::json::exception where a value
// is of another kind.
#pragma once

#include <nlohmann/json.hpp>

#include "service/session/session.h"

namespace hoist::service {

nlohmann::ordered_json emotives_json(const match::Emotives& emotives);
match::Emotives emotives_of(const nlohmann::ordered_json& list);

nlohmann::ordered_json observation_json(const Observation& observation);
Observation observation_of(const nlohmann::ordered_json& json);

int64_t milliseconds_of(std::chrono::system_clock::time_point time);
// Milliseconds since 1970, and seconds. False for what no clock tells, and then nothing is set.
bool set_times(Session& session, int64_t created, int64_t ttl, int64_t expires);

}  // namespace hoist::service
