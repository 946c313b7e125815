// Predictions of what a session remembers.
#include <fmt/core.h>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "match/json/json_text.h"
#include "service/api/answer_text.h"
#include "service/api/routes.h"
#include "service/node/predict.h"
#include "service/session/session_size.h"

namespace hoist::service {
namespace {

// A session as it was when it was asked.
struct Asked {
  std::string session;
  std::vector<Event> state;
  SessionConfig config;
};

// Comparing texts, long states and many predictions can take seconds, which other requests of the
// loop must not wait for.
bool takes_long(const Asked& asked, const Node& node) {
  if (node.has_large_answers()) return true;
  constexpr size_t kLong = 256;  // symbols
  constexpr size_t kMany = 1000;
  size_t symbols = 0;
  for (const Event& event : asked.state) symbols += event.size();
  return symbols > kLong || asked.config.max_predictions() > kMany ||
         asked.config.fuzzy_token_threshold() > 0 || !asked.config.use_token_matching();
}

net::HttpResponse too_large() {
  return detail(413, fmt::format("The answer would have more than {} MiB: ask for fewer "
                                 "max_predictions",
                                 kMostAnswer >> 20));
}

net::HttpResponse predictions(const Node& node, const Asked& asked,
                              const std::stop_token& client_gone) {
  const auto found = predict(node, asked.state, asked.config, client_gone);
  if (!found) return error_response(found.error());
  if (found->is_too_large) return too_large();
  return {.body = fmt::format("{{\"predictions\": {}, \"future_potentials\": {}, "
                              "\"session_id\": {}, \"processor_id\": null, \"count\": {}, "
                              "\"time\": null, \"unique_id\": null}}",
                              found->predictions, found->future_potentials,
                              match::json_string(asked.session), found->count)};
}

Asked ask_predictions(Session& session) {
  const std::lock_guard lock(session.mutex);
  return {session.id, session.stm.values(), session.config};
}

// The reference keeps the predictions of the last observation; they are made when asked for.
struct AskedCognition : Asked {
  std::string node;
  std::vector<Event> stm;
  match::Emotives emotives;
  int64_t time;
};

AskedCognition ask_cognition(Session& session) {
  const std::lock_guard lock(session.mutex);
  const NumberedList<Event>& state = session.last_state ? *session.last_state : session.stm;
  return {{session.id, state.values(), session.config},
          session.node,
          session.stm.values(),
          session.emotives.empty() ? match::Emotives() : session.emotives.back(),
          session.time};
}

net::HttpResponse cognition_data(const Node& node, const AskedCognition& asked,
                                 const std::stop_token& client_gone) {
  const auto found = predict(node, asked.state, asked.config, client_gone);
  if (!found) return error_response(found.error());
  if (found->is_too_large) return too_large();
  Json emotives = Json::object();
  for (const auto& [name, value] : asked.emotives) emotives[name] = value;
  AnswerText answer;
  answer.begin('{').key("cognition_data").begin('{');
  answer.key("predictions").json(found->predictions);
  answer.key("emotives").json(emotives.dump());
  answer.key("symbols").begin('[');
  for (const Event& event : asked.stm) {
    for (const std::string& symbol : event) answer.text(symbol);
  }
  answer.end(']').key("command").text("").key("metadata").begin('{').end('}');
  for (const char* none : {"path", "strings", "vectors"}) answer.key(none).begin('[').end(']');
  answer.key("short_term_memory").json(Json(asked.stm).dump());
  answer.key("time").number(asked.time).end('}');
  answer.key("session_id").text(asked.session).key("node_id").text(asked.node).end('}');
  return std::move(answer).response();
}

// Long answers tell of long patterns: later ones are made where nobody waits for them.
void note_size(const Node& node, const net::HttpResponse& response) {
  constexpr size_t kLarge = 512 << 10;
  if (response.body.size() > kLarge) node.note_large_answers();
}

template <typename What>
using Answering = net::HttpResponse (*)(const Node&, const What&, const std::stop_token&);

template <typename What>
void search(const Api& api, const SharedExchange& exchange, const std::shared_ptr<Node>& node,
            const std::shared_ptr<const What>& asked, Answering<What> answer) {
  if (takes_long(*asked, *node)) {
    return Api::answer_in(api.pools.predictions, exchange,
                          [answer, node, asked, gone = exchange->reply.client_gone()] {
                            return answer(*node, *asked, gone);
                          });
  }
  net::HttpResponse response = answer(*node, *asked, {});
  note_size(*node, response);
  exchange->reply.send(std::move(response));
}

// Copies what is asked, so that the session is free while patterns are searched.
template <typename What>
void predict_when_open(const Api& api, const SharedExchange& exchange, What (*ask)(Session&),
                       Answering<What> answer) {
  const auto session = api.find_session(exchange);
  if (session == nullptr) return;
  const auto go_on = [=](const std::shared_ptr<const What>& asked) {
    api.with_node(
        session->node, NodeOpenings::Wanted::get, exchange,
        [=](const std::shared_ptr<Node>& node) { search(api, exchange, node, asked, answer); });
  };
  api.use_session(session, exchange, [=](Strand::Use use) {
    if (!is_large(*session)) {
      const auto asked = std::make_shared<const What>(ask(*session));
      use.reset();
      return go_on(asked);
    }
    const bool runs = api.pools.observations.run([=] {
      const auto asked = std::make_shared<const What>(ask(*session));
      exchange->reply.run([=] { go_on(asked); });
    });
    if (!runs) exchange->reply.send(busy());
  });
}

template <typename What>
void add_predicting(net::HttpRouter& router, const Api& api, Work work, const char* path,
                    What (*ask)(Session&), Answering<What> answer) {
  api.handle(router, work, "GET", path, [=](const SharedExchange& exchange) {
    predict_when_open(api, exchange, ask, answer);
  });
}

}  // namespace

void add_prediction_routes(net::HttpRouter& router, const Api& api) {
  add_predicting(router, api, Work::predict, "/sessions/{id}/predictions", ask_predictions,
                 predictions);
  add_predicting(router, api, Work::other, "/sessions/{id}/cognition-data", ask_cognition,
                 cognition_data);
}

}  // namespace hoist::service
