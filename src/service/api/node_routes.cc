// What a node has learned: patterns and symbols.
#include <fmt/core.h>

#include <utility>

#include "service/api/routes.h"

namespace hoist::service {
namespace {

using Request = const net::HttpRequest&;

constexpr std::string_view kPrefix = "PTRN|";

// ?node_id=, else the reference's headers, else its default.
std::string node_of(Request request) {
  if (const std::string* id = request.argument("node_id")) return *id;
  if (const std::string* id = request.header("x-test-id")) {
    return id->starts_with("test_") ? *id : "test_" + *id;
  }
  if (const std::string* id = request.header("x-node-id")) return *id;
  return "default_node";
}

std::string_view bare(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

Json pattern_json(std::string_view name, const match::KnownPattern& known) {
  Json events = Json::array();
  size_t length = 0;
  for (const auto& event : known.events) {
    events.push_back(event);
    length += event.size();
  }
  Json emotives = Json::array();
  for (const match::Emotives& entry : known.emotives) {
    Json object = Json::object();
    for (const auto& [key, value] : entry) object[key] = value;
    emotives.push_back(std::move(object));
  }
  Json metadata = Json::parse(known.metadata, nullptr, false);
  if (!metadata.is_object()) metadata = Json::object();
  return {{"name", fmt::format("{}{}", kPrefix, name)},
          {"pattern_data", std::move(events)},
          {"length", length},
          {"frequency", known.frequency},
          {"emotives", std::move(emotives)},
          {"metadata", std::move(metadata)}};
}

net::HttpResponse pattern(Request request, const Node& node) {
  const std::string& asked = request.parameters.at(0);
  const std::shared_ptr<match::Index> index = node.index();
  const auto known = index != nullptr ? index->pattern(bare(asked))
                                      : Result<match::KnownPattern>(fail(ErrorCode::not_found, ""));
  if (known) {
    return json_response(
        {{"pattern", {{"status", "okay"}, {"pattern", pattern_json(bare(asked), *known)}}},
         {"node_id", node.id()}});
  }
  if (known.error().code != ErrorCode::not_found) return error_response(known.error());
  // As the reference says it.
  return json_response(
      {{"pattern", {{"status", "error"}, {"message", fmt::format("Pattern {} not found", asked)}}},
       {"node_id", node.id()}});
}

net::HttpResponse symbol_stats(Request, const Node& node) {
  nlohmann::json symbols = nlohmann::json::object();
  if (const std::shared_ptr<match::Index> index = node.index()) {
    for (const match::SymbolStats& symbol : index->symbols()) {
      if (symbol.occurrences == 0) continue;
      symbols[std::string(symbol.symbol)] = {{"name", symbol.symbol},
                                             {"frequency", symbol.occurrences},
                                             {"pattern_member_frequency", symbol.patterns}};
    }
  }
  return map_response(nlohmann::json{{"symbols", std::move(symbols)}, {"node_id", node.id()}});
}

net::HttpResponse all_affinities(Request, const Node& node) {
  nlohmann::json affinities = nlohmann::json::object();
  for (const auto& [symbol, sums] : node.affinities()->all()) affinities[symbol] = sums;
  return map_response(
      nlohmann::json{{"affinities", std::move(affinities)}, {"node_id", node.id()}});
}

net::HttpResponse affinity(Request request, const Node& node) {
  const std::string& symbol = request.parameters.at(0);
  return json_response({{"symbol", symbol},
                        {"affinity", Json(node.affinities()->of(symbol))},
                        {"node_id", node.id()}});
}

net::HttpResponse forget(Request request, Node& node) {
  const std::string& asked = request.parameters.at(0);
  if (Status removed = node.forget(bare(asked)); !removed) {
    if (removed.error().code != ErrorCode::not_found) return error_response(removed.error());
    return detail(404, fmt::format("Pattern {} not found", asked));
  }
  return json_response({{"status", "deleted"}, {"pattern_name", asked}, {"node_id", node.id()}});
}

}  // namespace

void add_node_routes(net::HttpRouter& router, const Api& api) {
  using NodeAnswer = std::function<net::HttpResponse(Request, Node&)>;
  const auto add = [&](const char* method, const char* path, NodeAnswer answer) {
    api.handle(router, Work::other, method, path,
               [api, answer = std::move(answer)](const SharedExchange& exchange) {
                 api.with_node(node_of(exchange->request), NodeOpenings::Wanted::look, exchange,
                               [exchange, answer](const std::shared_ptr<Node>& node) {
                                 exchange->reply.send(answer(exchange->request, *node));
                               });
               });
  };
  // There may be many symbols.
  const auto add_long = [&](const char* path, NodeAnswer answer) {
    api.add_in(router, api.pools.lists, Work::other, "GET", path,
               [api, answer = std::move(answer)](Request request) {
                 const auto node = api.nodes.look(node_of(request));
                 return node ? answer(request, **node) : error_response(node.error());
               });
  };
  add("GET", "/pattern/{name}", pattern);
  add("DELETE", "/pattern/{name}", forget);
  add_long("/symbols/stats", symbol_stats);
  add_long("/symbols/affinity", all_affinities);
  add("GET", "/symbols/{symbol}/affinity", affinity);
  add("GET", "/percept-data", [](Request, const Node& node) {
    return json_response({{"percept_data", Json::object()},
                          {"node_id", node.id()},
                          {"warning", "deprecated: ask /sessions/{session_id}/percept-data"}});
  });
  add("GET", "/cognition-data", [](Request, const Node& node) {
    return json_response({{"cognition_data",
                           {{"predictions", Json::array()},
                            {"emotives", Json::object()},
                            {"symbols", Json::array()},
                            {"command", ""},
                            {"metadata", Json::object()},
                            {"path", Json::array()},
                            {"strings", Json::array()},
                            {"vectors", Json::array()},
                            {"short_term_memory", Json::array()}}},
                          {"node_id", node.id()},
                          {"warning", "deprecated: ask /sessions/{session_id}/cognition-data"}});
  });
}

}  // namespace hoist::service
