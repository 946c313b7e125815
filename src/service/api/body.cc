#include "service/api/body.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "match/vocabulary/pattern.h"

namespace hoist::service {
namespace {

// A place, one step further.
Json step(const Json& place, Json key) {
  Json next = place;
  next.push_back(std::move(key));
  return next;
}

const ClientJson* find(const ClientJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? &*found : nullptr;
}

// A number, as the reference takes one: true is 1, and a text that is a number is one.
std::optional<double> number_of(const ClientJson& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  // "nan" and "inf" would be no JSON when they are told again.
  return is_whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

void read_strings(const ClientJson& value, const Json& place, Observation& observation,
                  BodyFaults& faults) {
  if (!value.is_array()) {
    faults.add("list_type", place, "Input should be a valid list", value);
    return;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i].is_string()) {
      observation.strings.push_back(value[i].get<std::string>());
      if (observation.strings.back().size() > match::kMaxSymbolBytes) {
        faults.add("string_too_long", step(place, i),
                   fmt::format("Input should have at most {} bytes", match::kMaxSymbolBytes));
      }
    } else {
      faults.add("string_type", step(place, i), "Input should be a valid string", value[i]);
    }
  }
}

void read_vectors(const ClientJson& value, const Json& place, Observation& observation,
                  BodyFaults& faults) {
  if (!value.is_array()) {
    faults.add("list_type", place, "Input should be a valid list", value);
    return;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_array()) {
      faults.add("list_type", step(place, i), "Input should be a valid list", value[i]);
      continue;
    }
    std::vector<double>& vector = observation.vectors.emplace_back();
    for (size_t k = 0; k < value[i].size(); ++k) {
      if (const auto number = number_of(value[i][k])) {
        vector.push_back(*number);
      } else {
        faults.add("float_type", step(step(place, i), k), "Input should be a valid number",
                   value[i][k]);
      }
    }
  }
}

void read_emotives(const ClientJson& value, const Json& place, Observation& observation,
                   BodyFaults& faults) {
  if (!value.is_object()) {
    faults.add("dict_type", place, "Input should be a valid dictionary", value);
    return;
  }
  std::map<std::string, double> emotives;
  for (const auto& [name, item] : value.items()) {
    if (const auto number = number_of(item)) {
      emotives[name] = *number;
    } else {
      faults.add("float_type", step(place, name), "Input should be a valid number", item);
    }
  }
  observation.emotives.assign(emotives.begin(), emotives.end());
}

}  // namespace

void BodyFaults::add(const char* type, Json place, std::string message, Json input) {
  constexpr size_t kMostFaults = 20;  // of a list of a million
  if (list.size() >= kMostFaults) return;
  list.push_back({{"type", type},
                  {"loc", std::move(place)},
                  {"msg", std::move(message)},
                  {"input", std::move(input)}});
}

net::HttpResponse BodyFaults::response() const { return detail(422, list); }

std::optional<ClientJson> parse_body(const std::string& body, BodyFaults& faults) {
  if (body.empty()) {
    faults.add("missing", {"body"}, "Field required");
    return std::nullopt;
  }
  if (const char* fault = check_json_shape(body)) {
    faults.add("json_invalid", {"body"}, fmt::format("JSON decode error: {}", fault),
               Json::object());
    return std::nullopt;
  }
  try {
    return ClientJson::parse(body);
  } catch (const ClientJson::parse_error& error) {
    faults.add("json_invalid", {"body", error.byte}, "JSON decode error", Json::object());
  } catch (const Json::out_of_range&) {
    faults.add("json_invalid", {"body"}, "JSON decode error: a number is beyond a double's range",
               Json::object());
  }
  return std::nullopt;
}

Observation read_observation(const ClientJson& value, const Json& place, BodyFaults& faults) {
  Observation observation;
  if (!value.is_object()) {
    faults.add("model_attributes_type", place,
               "Input should be a valid dictionary or object to extract fields from", value);
    return observation;
  }
  if (const ClientJson* strings = find(value, "strings")) {
    read_strings(*strings, step(place, "strings"), observation, faults);
  }
  if (const ClientJson* vectors = find(value, "vectors")) {
    read_vectors(*vectors, step(place, "vectors"), observation, faults);
  }
  if (const ClientJson* emotives = find(value, "emotives")) {
    read_emotives(*emotives, step(place, "emotives"), observation, faults);
  }
  if (const ClientJson* metadata = find(value, "metadata")) {
    if (metadata->is_object()) {
      observation.metadata = *metadata;
    } else {
      faults.add("dict_type", step(place, "metadata"), "Input should be a valid dictionary",
                 *metadata);
    }
  }
  if (const ClientJson* id = find(value, "unique_id"); id != nullptr && !id->is_null()) {
    if (id->is_string()) {
      observation.unique_id = id->get<std::string>();
    } else {
      faults.add("string_type", step(place, "unique_id"), "Input should be a valid string", *id);
    }
  }
  return observation;
}

bool read_flag(const ClientJson& object, const char* key, bool fallback, BodyFaults& faults) {
  const ClientJson* value = find(object, key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  faults.add("bool_type", {"body", key}, "Input should be a valid boolean", *value);
  return fallback;
}

ObservationSequence read_sequence(const ClientJson& value, BodyFaults& faults) {
  ObservationSequence sequence;
  if (!value.is_object()) {
    faults.add("model_attributes_type", {"body"},
               "Input should be a valid dictionary or object to extract fields from", value);
    return sequence;
  }
  const ClientJson* list = find(value, "observations");
  const Json place = {"body", "observations"};
  if (list == nullptr) {
    faults.add("missing", place, "Field required", value);
  } else if (!list->is_array()) {
    faults.add("list_type", place, "Input should be a valid list", *list);
  } else {
    for (size_t i = 0; i < list->size(); ++i) {
      sequence.observations.push_back(read_observation((*list)[i], step(place, i), faults));
    }
  }
  sequence.learn_after_each = read_flag(value, "learn_after_each", false, faults);
  sequence.learn_at_end = read_flag(value, "learn_at_end", false, faults);
  sequence.clear_stm_between = read_flag(value, "clear_stm_between", false, faults);
  return sequence;
}

net::HttpResponse json_response(const Json& json, int status) {
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

net::HttpResponse map_response(const ClientJson& json) {
  return {.body = json.dump(-1, ' ', false, ClientJson::error_handler_t::replace)};
}

net::HttpResponse detail(int status, const Json& what) {
  return json_response({{"detail", what}}, status);
}

net::HttpResponse busy() {
  net::HttpResponse response = detail(503, "Too much waits already: try again");
  response.headers.push_back({"retry-after", "1"});
  return response;
}

net::HttpResponse error_response(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return detail(400, error.message);
    case ErrorCode::not_found:
      return detail(404, error.message);
    case ErrorCode::exhausted:
      return detail(507, error.message);
    case ErrorCode::unavailable:
      return detail(503, error.message);
    default:
      return detail(500, error.message);
  }
}

}  // namespace hoist::service
