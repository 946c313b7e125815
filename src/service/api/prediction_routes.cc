// Predictions of what a session remembers.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "match/json/json_text.h"
#include "service/api/routes.h"
#include "service/node/predict.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;
using Shared = std::shared_ptr<Session>;

struct Asked {
  std::string session;
  std::vector<Event> state;
  SessionConfig config;
};

Asked what_is_asked(Session& session) {
  const std::lock_guard lock(session.mutex);
  return {session.id, session.stm.values(), session.config};
}

// Comparing texts, and long states, can take seconds, which other requests of the loop must not
// wait for.
bool takes_long(const Asked& asked) {
  constexpr size_t kLong = 256;  // symbols
  size_t symbols = 0;
  for (const Event& event : asked.state) symbols += event.size();
  return symbols > kLong || asked.config.fuzzy_token_threshold() > 0 ||
         !asked.config.use_token_matching();
}

net::HttpResponse answer(const Node& node, const Asked& asked) {
  const auto found = predict(node, asked.state, asked.config);
  if (!found) return error_response(found.error());
  return {.body = fmt::format("{{\"predictions\": {}, \"future_potentials\": {}, "
                              "\"session_id\": {}, \"processor_id\": null, \"count\": {}, "
                              "\"time\": null, \"unique_id\": null}}",
                              found->predictions, found->future_potentials,
                              match::json_string(asked.session), found->count)};
}

void predict_now(const Api& api, net::HttpRequest request, net::HttpReply reply) {
  const std::string& id = request.parameters.at(0);
  const Shared session = api.sessions.find(id);
  if (session == nullptr) {
    return reply.send(detail(404, fmt::format("Session {} not found or expired", id)));
  }
  api.keeper.keep_time(*session);
  Asked asked = what_is_asked(*session);
  const auto node = api.nodes.find_open(session->node);
  if (node && !takes_long(asked)) return reply.send(answer(*node, asked));
  Api::answer_in(node ? api.background : api.openings, std::move(request), std::move(reply),
                 [api, asked = std::move(asked), session](Request) {
                   const auto opened = api.nodes.get(session->node);
                   return opened ? answer(**opened, asked) : error_response(opened.error());
                 });
}

// The reference keeps the predictions of the last observation; they are made when asked for.
net::HttpResponse cognition_data(Session& session, const Node& node) {
  const std::lock_guard lock(session.mutex);
  const NumberedList<Event>& state = session.last_state ? *session.last_state : session.stm;
  const auto found = predict(node, state.values(), session.config);
  if (!found) return error_response(found.error());
  Json symbols = Json::array();
  for (const Event& event : session.stm.values()) {
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
                          {"short_term_memory", session.stm.values()},
                          {"time", session.time}}},
                        {"session_id", session.id},
                        {"node_id", session.node}});
}

}  // namespace

void add_prediction_routes(net::HttpRouter& router, const Api& api) {
  router.add(
      "GET", "/sessions/{id}/predictions",
      api.monitor.watch(Work::predict, [api](net::HttpRequest request, net::HttpReply reply) {
        predict_now(api, std::move(request), std::move(reply));
      }));
  api.add_for_node(
      router, Work::other, "GET", "/sessions/{id}/cognition-data", [](Session&) { return false; },
      [](Request, Session& session, const Node& node) { return cognition_data(session, node); });
}

}  // namespace hoist::service
