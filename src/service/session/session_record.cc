#include "service/session/session_record.h"

#include <chrono>

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

Json emotives_json(const match::Emotives& emotives) {
  Json list = Json::array();
  for (const auto& [name, value] : emotives) list.push_back({name, value});
  return list;
}

match::Emotives emotives_of(const nlohmann::json& list) {
  match::Emotives emotives;
  for (const nlohmann::json& pair : list) {
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

}  // namespace

std::string encode_session(const Session& session) {
  Json emotives = Json::array();
  for (const match::Emotives& entry : session.emotives) emotives.push_back(emotives_json(entry));
  const auto created = std::chrono::duration_cast<Milliseconds>(session.created.time_since_epoch());
  const Json json = {{"id", session.id},
                     {"node", session.node},
                     {"created", created.count()},
                     {"metadata", session.metadata},
                     {"ttl", session.ttl_seconds.load()},
                     {"expires", session.expires_ms.load()},
                     {"stm", session.stm},
                     {"emotives", std::move(emotives)},
                     {"metadata_seen", session.metadata_seen},
                     {"vectors", session.vectors},
                     {"time", session.time},
                     {"last", session.last ? observation_json(*session.last) : Json()},
                     {"last_state", session.last_state ? Json(*session.last_state) : Json()},
                     {"config", session.config.set()}};
  const std::vector<uint8_t> bytes = Json::to_cbor(json);
  return {bytes.begin(), bytes.end()};
}

Result<std::shared_ptr<Session>> decode_session(std::string_view bytes) {
  // nlohmann's accessors throw where a value is of another kind.
  try {
    const nlohmann::json json = nlohmann::json::from_cbor(bytes);
    auto session = std::make_shared<Session>();
    session->id = json.at("id");
    session->node = json.at("node");
    session->created = std::chrono::system_clock::time_point(Milliseconds(json.at("created")));
    session->metadata = Json(json.at("metadata"));
    session->ttl_seconds = json.at("ttl").get<int64_t>();
    session->expires_ms = json.at("expires").get<int64_t>();
    session->stm = json.at("stm").get<std::vector<Event>>();
    for (const nlohmann::json& entry : json.at("emotives"))
      session->emotives.push_back(emotives_of(entry));
    for (const nlohmann::json& seen : json.at("metadata_seen")) {
      session->metadata_seen.emplace_back(seen);
    }
    session->vectors = json.at("vectors").get<std::vector<std::vector<double>>>();
    session->time = json.at("time");
    if (const nlohmann::json& last = json.at("last"); !last.is_null()) {
      session->last = Observation{.strings = last.at("strings"),
                                  .vectors = last.at("vectors"),
                                  .emotives = emotives_of(last.at("emotives")),
                                  .metadata = Json(last.at("metadata")),
                                  .unique_id = {}};
    }
    if (const nlohmann::json& state = json.at("last_state"); !state.is_null()) {
      session->last_state = state.get<std::vector<Event>>();
    }
    if (!session->config.update(Json(json.at("config"))).empty()) {
      return fail(ErrorCode::corrupt, "a stored session's configuration is damaged");
    }
    return session;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("a stored session is damaged: ") + error.what());
  }
}

}  // namespace hoist::service
