// Observing, learning, and what a session remembers.
#include <fmt/core.h>

#include <utility>

#include "service/api/answer_text.h"
#include "service/api/routes.h"
#include "service/session/observe.h"
#include "service/session/random_id.h"
#include "service/session/session_memory.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;
using Shared = std::shared_ptr<Session>;

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

net::HttpResponse observe_once(const Api& api, Request request, Session& session, Node& node) {
  BodyFaults faults;
  const auto body = parse_body(request.body, faults);
  if (!body) return faults.response();
  Observation observation = read_observation(body->root(), kBody, faults);
  if (!faults.empty()) return faults.response();
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

net::HttpResponse observe_sequence(const Api& api, Request request, Session& session, Node& node) {
  BodyFaults faults;
  const auto body = parse_body(request.body, faults);
  if (!body) return faults.response();
  ObservationSequence sequence = read_sequence(body->root(), faults);
  if (!faults.empty()) return faults.response();

  const std::lock_guard lock(session.mutex);
  SessionMemory before(session);
  const size_t initial = session.stm.size();
  AnswerText results, learned;
  results.begin('[');
  learned.begin('[');
  for (size_t i = 0; i < sequence.observations.size(); ++i) {
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

net::HttpResponse clear_all(const Api& api, Session& session) {
  const auto node = api.nodes.get(session.node);
  if (!node) return error_response(node.error());
  const std::lock_guard lock(session.mutex);
  if (Status cleared = api.nodes.clear(**node); !cleared) return error_response(cleared.error());
  session.clear();
  if (Status kept = api.keeper.keep(session); !kept) return error_response(kept.error());
  return json_response({{"status", "cleared"}, {"session_id", session.id}, {"scope", "all"}});
}

net::HttpResponse finalize(const Api& api, Session& session) {
  const auto began = std::chrono::steady_clock::now();
  const auto node = api.nodes.get(session.node);
  if (!node) return error_response(node.error());
  const auto patterns = (*node)->finalize_training();
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

}  // namespace

void add_observation_routes(net::HttpRouter& router, const Api& api) {
  const auto may_learn = [](Session&) { return true; };
  const auto learns_by_itself = [](Session& session) {
    const std::lock_guard lock(session.mutex);
    return session.config.max_pattern_length() > 0;
  };
  api.add_for_node(router, Work::observe, "POST", "/sessions/{id}/observe", learns_by_itself,
                   [api](Request request, Session& session, Node& node) {
                     return observe_once(api, request, session, node);
                   });
  api.add_for_node(router, Work::observe_sequence, "POST", "/sessions/{id}/observe-sequence",
                   may_learn, [api](Request request, Session& session, Node& node) {
                     return observe_sequence(api, request, session, node);
                   });
  api.add_for_node(
      router, Work::learn, "POST", "/sessions/{id}/learn", may_learn,
      [api](Request, Session& session, Node& node) { return learn_now(api, session, node); });
  api.add_in_background(
      router, Work::learn, "POST", "/sessions/{id}/finalize-training",
      api.for_session([api](Request, Shared session) { return finalize(api, *session); }));
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
  api.add_in_background(
      router, Work::other, "POST", "/sessions/{id}/clear-all",
      api.for_session([api](Request, Shared session) { return clear_all(api, *session); },
                      "not found"));
  api.add_for_session(router, Work::other, "GET", "/sessions/{id}/percept-data",
                      [](Request, Shared session) {
                        const std::lock_guard lock(session->mutex);
                        return json_response({{"percept_data", percept_json(*session)},
                                              {"session_id", session->id},
                                              {"node_id", session->node}});
                      });
}

}  // namespace hoist::service
