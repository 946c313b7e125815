// Sessions: made, looked at, configured, ended.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "service/api/routes.h"
#include "service/monitoring/time_text.h"

namespace hoist::service {
namespace {

using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

Json session_json(Session& session, int64_t ttl_seconds) {
  const Clock::time_point expires((Milliseconds(session.expires_ms.load())));
  Json config;
  {
    const std::lock_guard lock(session.mutex);
    config = session.config.effective();
  }
  return {{"session_id", session.id},
          {"node_id", session.node},
          {"created_at", iso_time_z(session.created)},
          {"expires_at", iso_time_z(expires)},
          {"ttl_seconds", ttl_seconds},
          {"metadata", session.metadata},
          {"session_config", std::move(config)}};
}

net::HttpResponse refused_config(const SessionConfig::Faults& faults) {
  return detail(400, {{"error", "Configuration validation failed"}, {"validation_errors", faults}});
}

bool is_seconds(const Json& value) {
  if (!value.is_number()) return false;
  const double seconds = value.get<double>();
  return seconds == std::floor(seconds) && seconds >= 0 && seconds <= INT32_MAX;
}

struct NewSession {
  std::string node;
  SessionConfig config;
  Json metadata;
  int64_t ttl_seconds = 0;  // 0: the default
};

// Nothing where something is wrong, which `refused` says.
std::optional<NewSession> read_new_session(const net::HttpRequest& request,
                                           net::HttpResponse& refused) {
  BodyFaults faults;
  const auto document = parse_body(request.body, faults);
  if (!document) return refused = faults.response(), std::nullopt;
  const ClientJson body = document->root();
  if (!body.is_object()) {
    faults.add("model_attributes_type", kBody,
               "Input should be a valid dictionary or object to extract fields from", body);
    return refused = faults.response(), std::nullopt;
  }
  const auto field = [&](const char* key) {
    const auto found = body.find(key);
    return found ? found->copy() : Json();
  };
  const Json node = field("node_id");
  if (!body.find("node_id")) {
    faults.add("missing", kBody / "node_id", "Field required", body);
  } else if (!node.is_string()) {
    faults.add("string_type", kBody / "node_id", "Input should be a valid string", node);
  }
  Json metadata = field("metadata");
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) {
    faults.add("dict_type", kBody / "metadata", "Input should be a valid dictionary", metadata);
  }
  const Json ttl = field("ttl_seconds");
  if (!ttl.is_null() && !is_seconds(ttl)) {
    faults.add("int_type", kBody / "ttl_seconds",
               "Input should be a valid number of seconds, 0 to 2147483647", ttl);
  }
  const Json config = field("config");
  if (!config.is_null() && !config.is_object()) {
    faults.add("dict_type", kBody / "config", "Input should be a valid dictionary", config);
  }
  if (!faults.empty()) return refused = faults.response(), std::nullopt;

  NewSession wanted{.node = node.get<std::string>(), .config = {}, .metadata = std::move(metadata)};
  if (!ttl.is_null()) wanted.ttl_seconds = ttl.get<int64_t>();
  if (config.is_object()) {
    const SessionConfig::Faults wrong = wanted.config.update(config);
    if (!wrong.empty()) return refused = refused_config(wrong), std::nullopt;
  }
  return wanted;
}

net::HttpResponse create(const Api& api, NewSession wanted) {
  const auto session = api.sessions.create(std::move(wanted.node), std::move(wanted.config),
                                           std::move(wanted.metadata), wanted.ttl_seconds);
  if (!session) {
    net::HttpResponse response = detail(429, session.error().message);
    response.headers.push_back({"retry-after", "60"});
    return response;
  }
  {
    const std::lock_guard lock((*session)->mutex);
    if (Status kept = api.keeper.keep(**session); !kept) {
      api.sessions.remove((*session)->id);
      return error_response(kept.error());
    }
  }
  api.events.session_created(**session);
  return json_response(session_json(**session, (*session)->ttl_seconds));
}

void create_when_open(const Api& api, const SharedExchange& exchange) {
  net::HttpResponse refused;
  auto wanted = read_new_session(exchange->request, refused);
  if (!wanted) return exchange->reply.send(std::move(refused));
  // A node whose name is none or that cannot be opened is told of now.
  const std::string node = wanted->node;
  api.with_node(node, NodeOpenings::Wanted::get, exchange,
                [api, exchange, wanted = *std::move(wanted)](const std::shared_ptr<Node>&) {
                  exchange->reply.send(create(api, wanted));
                });
}

// Looks at the session without giving it more time.
void end_session(const Api& api, const SharedExchange& exchange) {
  const std::string& id = exchange->request.parameters.at(0);
  const auto none = [exchange, id] {
    exchange->reply.send(detail(404, fmt::format("Session {} not found", id)));
  };
  const auto session = api.sessions.peek(id);
  if (session == nullptr) return none();
  session->is_ending = true;
  const std::shared_ptr<Strand> strand(session, &session->strand);
  Strand::use(strand, [api, exchange, session, none](const Strand::Use& use) {
    exchange->reply.run([api, exchange, session, none, use] {
      const auto ended = api.end_session(*session, "explicit_delete");
      if (!ended) return exchange->reply.send(error_response(ended.error()));
      if (!*ended) return none();
      exchange->reply.send(json_response({{"status", "deleted"}, {"session_id", session->id}}));
    });
  });
}

net::HttpResponse configure(const Api& api, const net::HttpRequest& request, Session& session) {
  BodyFaults faults;
  const auto document = parse_body(request.body, faults);
  if (!document) return faults.response();
  const ClientJson body = document->root();
  if (!body.is_object()) {
    faults.add("dict_type", kBody, "Input should be a valid dictionary", body);
    return faults.response();
  }
  const ClientJson config = body.find("config").value_or(body);
  if (!config.is_object()) {
    faults.add("dict_type", kBody / "config", "Input should be a valid dictionary", config);
    return faults.response();
  }
  const std::lock_guard lock(session.mutex);
  const SessionConfig::Faults refused = session.config.update(config.copy());
  if (!refused.empty()) return refused_config(refused);
  if (Status kept = api.keeper.keep(session); !kept) return error_response(kept.error());
  return json_response(
      {{"status", "okay"}, {"message", "Configuration updated"}, {"session_id", session.id}});
}

net::HttpResponse extend(const Api& api, const net::HttpRequest& request, Session& session) {
  int64_t ttl = 3600;
  if (const std::string* text = request.argument("ttl_seconds")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), ttl);
    if (error != std::errc() || end != text->data() + text->size() || ttl < 1 || ttl > INT32_MAX) {
      BodyFaults faults;
      faults.add("int_parsing", Place("query") / "ttl_seconds",
                 "Input should be a valid number of seconds, 1 to 2147483647", *text);
      return faults.response();
    }
  }
  {
    const std::lock_guard lock(session.mutex);
    int64_t wanted = now_ms() + ttl * 1000;
    const int64_t before = session.expires_ms.exchange(wanted);
    if (Status kept = api.keeper.keep(session); !kept) {
      session.expires_ms.compare_exchange_strong(wanted, before);
      return error_response(kept.error());
    }
  }
  return json_response({{"status", "extended"}, {"session_id", session.id}, {"ttl_seconds", ttl}});
}

}  // namespace

void add_session_routes(net::HttpRouter& router, const Api& api) {
  using Request = const net::HttpRequest&;
  using Shared = const std::shared_ptr<Session>&;
  constexpr Work kOther = Work::other;

  api.handle(router, kOther, "POST", "/sessions",
             [api](const SharedExchange& exchange) { create_when_open(api, exchange); });
  api.add(router, kOther, "GET", "/sessions/count", [api](Request) {
    return json_response({{"active_session_count", api.sessions.size()}});
  });
  api.add(router, kOther, "GET", "/sessions/test/{id}", [](Request request) {
    return json_response({{"test_id", request.parameters.at(0)}, {"message", "endpoint works"}});
  });
  api.add(router, kOther, "GET", "/sessions/{id}/exists", [api](Request request) {
    const std::string& id = request.parameters.at(0);
    const SessionTable::Presence presence = api.sessions.look(id);
    return json_response({{"exists", presence == SessionTable::Presence::alive},
                          {"expired", presence == SessionTable::Presence::expired},
                          {"session_id", id}});
  });
  api.add_for_session(router, kOther, "GET", "/sessions/{id}", [](Request, Shared session) {
    const int64_t left = (session->expires_ms - now_ms()) / 1000;
    return json_response(session_json(*session, std::max<int64_t>(0, left)));
  });
  api.handle(router, kOther, "DELETE", "/sessions/{id}",
             [api](const SharedExchange& exchange) { end_session(api, exchange); });
  api.add_for_session(router, kOther, "GET", "/sessions/{id}/config", [](Request, Shared session) {
    const std::lock_guard lock(session->mutex);
    return json_response({{"session_id", session->id}, {"config", session->config.effective()}});
  });
  api.add_for_session(
      router, kOther, "POST", "/sessions/{id}/config",
      [api](Request request, Shared session) { return configure(api, request, *session); },
      "not found");
  api.add_for_session(
      router, kOther, "POST", "/sessions/{id}/extend",
      [api](Request request, Shared session) { return extend(api, request, *session); },
      "not found");
}

}  // namespace hoist::service
