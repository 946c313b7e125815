#include "service/session/session_record.h"

#include <fmt/core.h>

#include "service/session/session_parts.h"

namespace hoist::service {

using Json = nlohmann::ordered_json;

namespace {

Error damaged(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("a stored session is damaged: {}", what));
}

}  // namespace

Result<std::shared_ptr<Session>> decode_session_record(std::string_view bytes) {
  try {
    const Json json = Json::from_cbor(bytes);
    auto session = std::make_shared<Session>();
    session->id = json.at("id");
    session->node = json.at("node");
    session->metadata = json.at("metadata");
    if (!set_times(*session, json.at("created"), json.at("ttl"), json.at("expires"))) {
      return damaged("times");
    }
    const std::vector<Event> stm = json.at("stm");
    session->stm = NumberedList<Event>(stm);
    if (const Json& state = json.at("last_state"); !state.is_null()) {
      session->last_state.emplace(state.get<std::vector<Event>>());
      // Short-term memory is what is left of it.
      if (session->last_state->size() < stm.size()) return damaged("events");
      session->stm = session->last_state->last(stm.size());
      if (session->stm.values() != stm) return damaged("events");
    }
    for (const Json& entry : json.at("emotives")) session->emotives.push_back(emotives_of(entry));
    for (const Json& seen : json.at("metadata_seen")) session->metadata_seen.push_back(seen);
    session->vectors = NumberedList<std::vector<double>>(
        json.at("vectors").get<std::vector<std::vector<double>>>());
    session->time = json.at("time");
    if (const Json& last = json.at("last"); !last.is_null()) {
      session->last = std::make_shared<const Observation>(observation_of(last));
    }
    if (!session->config.update(json.at("config")).empty()) return damaged("configuration");
    return session;
  } catch (const nlohmann::json::exception& error) {
    return damaged(error.what());
  }
}

}  // namespace hoist::service
