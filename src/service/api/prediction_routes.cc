// Predictions of what a session remembers.
#include <fmt/core.h>

#include <utility>

#include "match/json/json_text.h"
#include "service/api/routes.h"
#include "service/node/predict.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;
using Shared = std::shared_ptr<Session>;

net::HttpResponse predict_now(const Api& api, Session& session) {
  const auto node = api.nodes.get(session.node);
  if (!node) return error_response(node.error());
  std::vector<Event> state;
  SessionConfig config;
  {
    const std::lock_guard lock(session.mutex);
    state = session.stm;
    config = session.config;
  }
  const auto found = predict(**node, state, config);
  if (!found) return error_response(found.error());
  return {.body = fmt::format("{{\"predictions\": {}, \"future_potentials\": {}, "
                              "\"session_id\": {}, \"processor_id\": null, \"count\": {}, "
                              "\"time\": null, \"unique_id\": null}}",
                              found->predictions, found->future_potentials,
                              match::json_string(session.id), found->count)};
}

// The reference keeps the predictions of the last observation; they are made when asked for.
net::HttpResponse cognition_data(const Api& api, Session& session) {
  const auto node = api.nodes.get(session.node);
  if (!node) return error_response(node.error());
  const std::lock_guard lock(session.mutex);
  const auto found = predict(**node, session.last_state.value_or(session.stm), session.config);
  if (!found) return error_response(found.error());
  Json symbols = Json::array();
  for (const Event& event : session.stm) {
    for (const std::string& symbol : event) symbols.push_back(symbol);
  }
  Json emotives = Json::object();
  if (!session.emotives.empty()) {
    for (const auto& [name, value] : session.emotives.back()) emotives[name] = value;
  }
  return json_response({{"cognition_data",
                         {{"predictions", Json::parse(found->predictions)},
                          {"emotives", std::move(emotives)},
                          {"symbols", std::move(symbols)},
                          {"command", ""},
                          {"metadata", Json::object()},
                          {"path", Json::array()},
                          {"strings", Json::array()},
                          {"vectors", Json::array()},
                          {"short_term_memory", session.stm},
                          {"time", session.time}}},
                        {"session_id", session.id},
                        {"node_id", session.node}});
}

}  // namespace

void add_prediction_routes(net::HttpRouter& router, const Api& api) {
  api.add_for_session(router, Work::predict, "GET", "/sessions/{id}/predictions",
                      [api](Request, Shared session) { return predict_now(api, *session); });
  api.add_for_session(router, Work::other, "GET", "/sessions/{id}/cognition-data",
                      [api](Request, Shared session) { return cognition_data(api, *session); });
}

}  // namespace hoist::service
