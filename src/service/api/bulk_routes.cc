// Predictions of many states in one request, which takes less time than one by one.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "match/json/json_text.h"
#include "service/api/routes.h"
#include "service/node/predict.h"

namespace hoist::service {
namespace {

constexpr size_t kMostStates = 100'000;
constexpr size_t kTogether = 256;            // states that are searched for in one scan
constexpr size_t kRecordsTogether = 50'000;  // most records of one scan, where that is fewer states

struct Bulk {
  std::string node;
  std::vector<std::vector<Event>> states;
  SessionConfig config;
};

// A state is a list of events, an event a list of strings; they are sorted as observed ones are.
std::vector<Event> read_state(const ClientJson& value, size_t place, BodyFaults& faults) {
  std::vector<Event> state;
  const auto wrong = [&](const ClientJson& input) {
    faults.add("list_type", kBody / "states" / place, "Input should be a list of lists of strings",
               input);
  };
  if (!value.is_array()) return wrong(value), state;
  state.reserve(value.items().size());
  for (const ClientJson event : value.items()) {
    if (!event.is_array()) return wrong(event), state;
    Event& read = state.emplace_back();
    read.reserve(event.items().size());
    for (const ClientJson symbol : event.items()) {
      const auto text = symbol.string();
      if (!text) return wrong(symbol), state;
      read.emplace_back(*text);
    }
    std::sort(read.begin(), read.end());
    if (read.empty()) state.pop_back();
  }
  return state;
}

void read_states(const ClientJson& body, Bulk& bulk, BodyFaults& faults) {
  const auto states = body.find("states");
  if (!states) return faults.add("missing", kBody / "states", "Field required");
  if (!states->is_array() || states->items().size() > kMostStates) {
    return faults.add("list_type", kBody / "states",
                      fmt::format("Input should be a list of at most {} states", kMostStates));
  }
  bulk.states.reserve(states->items().size());
  for (const ClientJson state : states->items()) {
    bulk.states.push_back(read_state(state, bulk.states.size(), faults));
  }
}

void read_config(const ClientJson& body, Bulk& bulk, BodyFaults& faults) {
  const auto config = body.find("config");
  if (!config || config->is_null()) return;
  const Place place = kBody / "config";
  if (!config->is_object()) {
    return faults.add("dict_type", place, "Input should be a valid dictionary", *config);
  }
  for (const auto& [key, fault] : bulk.config.update(config->copy())) {
    faults.add("value_error", place / key, fault, *config->find(key));
  }
}

std::optional<Bulk> read_bulk(const std::string& text, BodyFaults& faults) {
  const auto document = parse_body(text, faults);
  if (!document) return std::nullopt;
  const ClientJson body = document->root();
  if (!body.is_object()) {
    faults.add("model_attributes_type", kBody, "Input should be a valid dictionary", body);
    return std::nullopt;
  }
  Bulk bulk;
  if (const auto node = body.find("node_id"); !node) {
    faults.add("missing", kBody / "node_id", "Field required");
  } else if (const auto id = node->string()) {
    bulk.node = *id;
  } else {
    faults.add("string_type", kBody / "node_id", "Input should be a valid string", *node);
  }
  read_config(body, bulk, faults);
  read_states(body, bulk, faults);
  if (!faults.empty()) return std::nullopt;
  return bulk;
}

net::HttpResponse predict_bulk(const Node& node, const Bulk& bulk,
                               const std::stop_token& client_gone) {
  std::string out = "{\"results\": [";
  const size_t together =
      std::clamp<size_t>(kRecordsTogether / bulk.config.max_predictions(), 1, kTogether);
  for (size_t begin = 0; begin < bulk.states.size(); begin += together) {
    const size_t count = std::min(together, bulk.states.size() - begin);
    const auto found =
        predict(node, std::span(bulk.states).subspan(begin, count), bulk.config, client_gone);
    if (!found) return error_response(found.error());
    for (const Predictions& one : *found) {
      if (one.is_too_large || out.size() + one.predictions.size() > kMostAnswer) {
        return detail(413, fmt::format("The answer would have more than {} MiB: ask for fewer "
                                       "states at once, or for fewer max_predictions",
                                       kMostAnswer >> 20));
      }
      if (out.back() == '}') out += ", ";
      out += "{\"predictions\": ";
      out += one.predictions;
      out += ", \"future_potentials\": ";
      out += one.future_potentials;
      out += fmt::format(", \"count\": {}}}", one.count);
    }
  }
  out += fmt::format("], \"node_id\": {}, \"count\": {}}}", match::json_string(bulk.node),
                     bulk.states.size());
  return {.body = std::move(out)};
}

}  // namespace

void add_bulk_routes(net::HttpRouter& router, const Api& api) {
  api.handle(router, Work::bulk_predict, "POST", "/predictions",
             [api](const SharedExchange& exchange) {
               Api::answer_in(api.pools.bulk, exchange,
                              [api, exchange, gone = exchange->reply.client_gone()] {
                                BodyFaults faults;
                                const auto bulk = read_bulk(exchange->request.body, faults);
                                if (!bulk) return faults.response();
                                const auto node = api.nodes.look(bulk->node);
                                if (!node) return error_response(node.error());
                                return predict_bulk(**node, *bulk, gone);
                              });
             });
}

}  // namespace hoist::service
