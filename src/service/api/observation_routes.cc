// Observing, learning, and what a session remembers.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "service/api/answer_text.h"
#include "service/api/observing_time.h"
#include "service/api/routes.h"
#include "service/session/observe.h"
#include "service/session/random_id.h"
#include "service/session/session_memory.h"
#include "service/session/session_size.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;
using Shared = const std::shared_ptr<Session>&;

// What is said of an observation that could not be taken.
net::HttpResponse refused(const Error& error, std::optional<size_t> index) {
  if (error.code != ErrorCode::invalid_argument ||
      error.message.find("dimension") == std::string::npos) {
    return error_response(error);
  }
  Json told = {{"error", "VectorDimensionError"}, {"message", error.message}};
  if (index) told["observation_index"] = *index;
  return detail(400, told);
}

net::HttpResponse observe_once(const Api& api, Observation observation, Session& session,
                               Node& node) {
  const std::lock_guard lock(session.mutex);
  const auto learned = observe(session, node, std::move(observation));
  if (!learned) return refused(learned.error(), std::nullopt);
  if (Status kept = api.keeper.keep(session); !kept) return error_response(kept.error());
  AnswerText answer;
  answer.begin('{').key("status").text("okay");
  answer.key("session_id").text(session.id);
  answer.key("processor_id").text(session.node);
  answer.key("stm_length").number(session.stm.size());
  answer.key("time").number(session.time);
  answer.key("unique_id").text("obs-" + random_id());
  answer.key("auto_learned_pattern").text_or_null(*learned).end('}');
  return std::move(answer).response();
}

// Why a sequence that is under way ends.
Status goes_on(const Session& session, const Node& node) {
  if (session.is_ending) {
    return fail(ErrorCode::not_found, fmt::format("Session {} is being deleted", session.id));
  }
  if (node.stop().stop_requested()) return fail(ErrorCode::unavailable, "the service ends");
  return {};
}

net::HttpResponse observe_sequence(const Api& api, ObservationSequence sequence, Session& session,
                                   Node& node) {
  const std::lock_guard lock(session.mutex);
  SessionMemory before(session);
  const size_t initial = session.stm.size();
  AnswerText results, learned;
  results.begin('[');
  learned.begin('[');
  for (size_t i = 0; i < sequence.observations.size(); ++i) {
    if (Status goes = goes_on(session, node); !goes) {
      std::move(before).put_back(session);
      return error_response(goes.error());
    }
    Observation& observation = sequence.observations[i];
    std::string id = std::move(observation.unique_id);
    if (id.empty()) id = "seq-obs-" + random_id();
    if (sequence.clear_stm_between && i > 0) session.stm.clear();
    const auto by_itself = observe(session, node, std::move(observation));
    if (!by_itself) {
      std::move(before).put_back(session);
      return refused(by_itself.error(), i);
    }
    if (sequence.learn_after_each && !session.stm.empty()) {
      const auto name = learn(session, node);
      if (!name) {
        std::move(before).put_back(session);
        return error_response(name.error());
      }
      learned.text(*name);
    }
    if (*by_itself) learned.text(**by_itself);
    results.begin('{').key("status").text("okay");
    results.key("sequence_position").number(i);
    results.key("stm_length").number(session.stm.size());
    results.key("time").number(session.time);
    results.key("unique_id").text(id);
    results.key("auto_learned_pattern").text_or_null(*by_itself).end('}');
  }
  std::optional<std::string> last;
  if (sequence.learn_at_end && !session.stm.empty()) {
    const auto name = learn(session, node);
    if (!name) {
      std::move(before).put_back(session);
      return error_response(name.error());
    }
    last = *name;
    learned.text(*name);
  }
  if (Status kept = api.keeper.keep(session); !kept) return error_response(kept.error());
  AnswerText answer;
  answer.begin('{').key("status").text("completed");
  answer.key("processor_id").text(session.node);
  answer.key("observations_processed").number(sequence.observations.size());
  answer.key("initial_stm_length").number(initial);
  answer.key("final_stm_length").number(session.stm.size());
  answer.key("results").json(std::move(results.end(']')).take());
  answer.key("auto_learned_patterns").json(std::move(learned.end(']')).take());
  answer.key("final_learned_pattern").text_or_null(last);
  answer.key("isolated").flag(sequence.clear_stm_between).end('}');
  return std::move(answer).response();
}

net::HttpResponse stm(Request, const Shared& session) {
  const std::lock_guard lock(session->mutex);
  AnswerText answer;
  answer.begin('{').key("stm").begin('[');
  for (const Event& event : session->stm.values()) {
    answer.begin('[');
    for (const std::string& symbol : event) answer.text(symbol);
    answer.end(']');
  }
  answer.end(']').key("session_id").text(session->id);
  answer.key("length").number(session->stm.size()).end('}');
  return std::move(answer).response();
}

Json percept_json(const Session& session) {
  if (!session.last) return Json::object();
  Json emotives = Json::object();
  for (const auto& [name, value] : average(session.emotives.values())) emotives[name] = value;
  return {{"strings", session.last->strings},
          {"vectors", session.last->vectors},
          {"emotives", std::move(emotives)},
          {"path", Json::array()},
          {"metadata", session.last->metadata}};
}

net::HttpResponse learn_now(const Api& api, Session& session, Node& node) {
  const std::lock_guard lock(session.mutex);
  if (session.stm.empty()) return detail(400, "Cannot learn from empty STM");
  const size_t events = session.stm.size();
  const auto name = learn(session, node);
  if (!name) return error_response(name.error());
  if (Status kept = api.keeper.keep(session); !kept) return error_response(kept.error());
  AnswerText answer;
  answer.begin('{').key("status").text("learned");
  answer.key("pattern_name").text(*name);
  answer.key("session_id").text(session.id);
  answer.key("processor_id").null();
  answer.key("message").text(fmt::format("Learned pattern {} from {} events", *name, events));
  return std::move(answer.end('}')).response();
}

net::HttpResponse clear_all(const Api& api, Session& session, Node& node) {
  const std::lock_guard lock(session.mutex);
  if (Status cleared = api.nodes.clear(node); !cleared) return error_response(cleared.error());
  session.clear();
  if (Status kept = api.keeper.keep(session); !kept) return error_response(kept.error());
  return json_response({{"status", "cleared"}, {"session_id", session.id}, {"scope", "all"}});
}

net::HttpResponse finalize(const Session& session, Node& node) {
  const auto began = std::chrono::steady_clock::now();
  const auto patterns = node.finalize_training();
  if (!patterns) return error_response(patterns.error());
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return json_response(
      {{"status", "completed"},
       {"patterns_processed", *patterns},
       {"time_ms", milliseconds},
       {"session_id", session.id},
       {"node_id", session.node},
       {"message",
        fmt::format("Computed Shannon entropy and TF vectors for {} patterns in {:.2f}ms",
                    *patterns, milliseconds)}});
}

Observation read(const ClientJson& body, BodyFaults& faults, std::type_identity<Observation>) {
  return read_observation(body, kBody, faults);
}

ObservationSequence read(const ClientJson& body, BodyFaults& faults,
                         std::type_identity<ObservationSequence>) {
  return read_sequence(body, faults);
}

// Nothing where something is wrong, which `faults` says.
template <typename What>
std::optional<What> read_whole(Request request, BodyFaults& faults) {
  const auto body = parse_body(request.body, faults);
  if (!body) return std::nullopt;
  What what = read(body->root(), faults, std::type_identity<What>());
  if (!faults.empty()) return std::nullopt;
  return what;
}

template <typename What>
using Observing = net::HttpResponse (*)(const Api&, What, Session&, Node&);

// Parsing the body takes long by itself. The session is used until all is done.
template <typename What>
void observe_large(const Api& api, const std::shared_ptr<Session>& session,
                   const SharedExchange& exchange, Observing<What> observe) {
  api.use_session(session, exchange, [api, session, exchange, observe](const Strand::Use& use) {
    const auto answer = [api, session, exchange, observe, use](const std::shared_ptr<Node>& node) {
      api.answer_in(api.pools.observations, exchange, session, use,
                    [api, session, exchange, observe, node] {
                      BodyFaults faults;
                      auto what = read_whole<What>(exchange->request, faults);
                      if (!what) return faults.response();
                      return observe(api, *std::move(what), *session, *node);
                    });
    };
    api.with_node(session->node, NodeOpenings::Wanted::get, exchange, answer);
  });
}

template <typename What>
void observe_small(const Api& api, const std::shared_ptr<Session>& session,
                   const SharedExchange& exchange, Observing<What> observe) {
  BodyFaults faults;
  auto read = read_whole<What>(exchange->request, faults);
  if (!read) return exchange->reply.send(faults.response());
  const auto what = std::make_shared<What>(*std::move(read));
  api.use_session(session, exchange, [=](const Strand::Use& use) {
    const auto answer = [=](const std::shared_ptr<Node>& node) {
      const auto now = [=] { return observe(api, std::move(*what), *session, *node); };
      bool is_long = is_large(*session);
      {
        const std::lock_guard lock(session->mutex);
        is_long = is_long || takes_long(*what, *session, *node);
      }
      if (!is_long) return exchange->reply.send(now());
      api.answer_in(api.pools.observations, exchange, session, use, now);
    };
    bool learns = false;
    {
      const std::lock_guard lock(session->mutex);
      learns = may_learn(*what, *session);
    }
    using enum NodeOpenings::Wanted;
    api.with_node(session->node, learns ? learn : get, exchange, answer);
  });
}

template <typename What>
void add_observing(net::HttpRouter& router, const Api& api, Work work, const char* path,
                   Observing<What> observe) {
  api.handle(router, work, "POST", path, [api, observe](const SharedExchange& exchange) {
    const auto session = api.find_session(exchange);
    if (session == nullptr) return;
    if (exchange->request.body.size() > kLongBody) {
      observe_large(api, session, exchange, observe);
    } else {
      observe_small(api, session, exchange, observe);
    }
  });
}

void learn_when_open(const Api& api, const SharedExchange& exchange) {
  const auto session = api.find_session(exchange);
  if (session == nullptr) return;
  api.use_session(session, exchange, [=](const Strand::Use& use) {
    bool learns = false;
    {
      const std::lock_guard lock(session->mutex);
      learns = may_learn(*session);
    }
    using enum NodeOpenings::Wanted;
    api.with_node(session->node, learns ? learn : get, exchange,
                  [=](const std::shared_ptr<Node>& node) {
                    bool is_long = false;
                    {
                      const std::lock_guard lock(session->mutex);
                      is_long = learning_takes_long(*session, *node);
                    }
                    if (!is_long) return exchange->reply.send(learn_now(api, *session, *node));
                    api.answer_in(api.pools.observations, exchange, session, use,
                                  [=] { return learn_now(api, *session, *node); });
                  });
  });
}

// Does nothing to the session, which others may use meanwhile.
void finalize_when_open(const Api& api, const SharedExchange& exchange) {
  const auto session = api.find_session(exchange);
  if (session == nullptr) return;
  api.use_session(session, exchange, [=](const Strand::Use&) {
    api.with_node(session->node, NodeOpenings::Wanted::get, exchange,
                  [=](const std::shared_ptr<Node>& node) {
                    Api::answer_in(api.pools.maintenance, exchange,
                                   [=] { return finalize(*session, *node); });
                  });
  });
}

void clear_when_open(const Api& api, const SharedExchange& exchange) {
  constexpr const char* kNotFound = "not found";
  const auto session = api.find_session(exchange, kNotFound);
  if (session == nullptr) return;
  const auto clear = [=](const Strand::Use& use) {
    api.with_node(session->node, NodeOpenings::Wanted::get, exchange,
                  [=](const std::shared_ptr<Node>& node) {
                    api.answer_in(api.pools.maintenance, exchange, session, use,
                                  [=] { return clear_all(api, *session, *node); });
                  });
  };
  api.use_session(session, exchange, clear, kNotFound);
}

}  // namespace

void add_observation_routes(net::HttpRouter& router, const Api& api) {
  add_observing(router, api, Work::observe, "/sessions/{id}/observe", observe_once);
  add_observing(router, api, Work::observe_sequence, "/sessions/{id}/observe-sequence",
                observe_sequence);
  api.handle(router, Work::learn, "POST", "/sessions/{id}/learn",
             [api](const SharedExchange& exchange) { learn_when_open(api, exchange); });
  api.handle(router, Work::learn, "POST", "/sessions/{id}/finalize-training",
             [api](const SharedExchange& exchange) { finalize_when_open(api, exchange); });
  api.handle(router, Work::other, "POST", "/sessions/{id}/clear-all",
             [api](const SharedExchange& exchange) { clear_when_open(api, exchange); });
  api.add_for_session(router, Work::other, "GET", "/sessions/{id}/stm", stm);
  api.add_for_session(
      router, Work::other, "POST", "/sessions/{id}/clear-stm",
      [api](Request, Shared session) {
        const std::lock_guard lock(session->mutex);
        session->clear();
        if (Status kept = api.keeper.keep(*session); !kept) {
          return error_response(kept.error());
        }
        return json_response({{"status", "cleared"}, {"session_id", session->id}});
      },
      "not found");
  api.add_for_session(router, Work::other, "GET", "/sessions/{id}/percept-data",
                      [](Request, Shared session) {
                        const std::lock_guard lock(session->mutex);
                        return json_response({{"percept_data", percept_json(*session)},
                                              {"session_id", session->id},
                                              {"node_id", session->node}});
                      });
}

}  // namespace hoist::service
