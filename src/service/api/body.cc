#include "service/api/body.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "match/vocabulary/pattern.h"

namespace hoist::service {
namespace {

constexpr size_t kMostFaults = 20;  // of a list of a million

// A number, as the reference takes one: true is 1, and a text that is a number is one.
std::optional<double> number_of(const ClientJson& value) {
  if (const auto number = value.number()) return number;
  if (const auto flag = value.boolean()) return *flag ? 1 : 0;
  const auto text = value.string();
  if (!text) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool is_whole = error == std::errc() && end == text->data() + text->size();
  // "nan" and "inf" would be no JSON when they are told again.
  return is_whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

void read_strings(const ClientJson& value, const Place& place, Observation& observation,
                  BodyFaults& faults) {
  if (!value.is_array()) {
    faults.add("list_type", place, "Input should be a valid list", value);
    return;
  }
  observation.strings.reserve(value.items().size());
  size_t i = 0;
  for (const ClientJson item : value.items()) {
    if (const auto text = item.string()) {
      observation.strings.emplace_back(*text);
      if (text->size() > match::kMaxSymbolBytes) {
        faults.add("string_too_long", place / i,
                   fmt::format("Input should have at most {} bytes", match::kMaxSymbolBytes));
      }
    } else {
      faults.add("string_type", place / i, "Input should be a valid string", item);
    }
    ++i;
  }
}

void read_vectors(const ClientJson& value, const Place& place, Observation& observation,
                  BodyFaults& faults) {
  if (!value.is_array()) {
    faults.add("list_type", place, "Input should be a valid list", value);
    return;
  }
  size_t i = 0;
  for (const ClientJson list : value.items()) {
    const Place here = place / i++;
    if (!list.is_array()) {
      faults.add("list_type", here, "Input should be a valid list", list);
      continue;
    }
    std::vector<double>& vector = observation.vectors.emplace_back();
    vector.reserve(list.items().size());
    size_t k = 0;
    for (const ClientJson item : list.items()) {
      if (const auto number = number_of(item)) {
        vector.push_back(*number);
      } else {
        faults.add("float_type", here / k, "Input should be a valid number", item);
      }
      ++k;
    }
  }
}

void read_emotives(const ClientJson& value, const Place& place, Observation& observation,
                   BodyFaults& faults) {
  if (!value.is_object()) {
    faults.add("dict_type", place, "Input should be a valid dictionary", value);
    return;
  }
  for (const auto& [name, item] : value.members()) {
    if (const auto number = number_of(item)) {
      observation.emotives.emplace_back(name, *number);
    } else {
      faults.add("float_type", place / name, "Input should be a valid number", item);
    }
  }
}

}  // namespace

Json Place::json() const {
  Json list = before_ == nullptr ? Json::array() : before_->json();
  std::visit([&](const auto& step) { list.push_back(step); }, step_);
  return list;
}

void BodyFaults::add(const char* type, const Place& place, std::string message, Json input) {
  if (list.size() >= kMostFaults) return;
  list.push_back({{"type", type},
                  {"loc", place.json()},
                  {"msg", std::move(message)},
                  {"input", std::move(input)}});
}

void BodyFaults::add(const char* type, const Place& place, std::string message,
                     const ClientJson& input) {
  if (list.size() < kMostFaults) add(type, place, std::move(message), input.copy());
}

net::HttpResponse BodyFaults::response() const { return detail(422, list); }

std::optional<JsonDocument> parse_body(const std::string& body, BodyFaults& faults) {
  if (body.empty()) {
    faults.add("missing", kBody, "Field required");
    return std::nullopt;
  }
  JsonDocument document;
  const auto fault = document.parse(body, body.capacity() - body.size());
  if (!fault) return document;
  switch (fault->kind) {
    case JsonFault::Kind::shape:
      faults.add("json_invalid", kBody, fmt::format("JSON decode error: {}", fault->shape),
                 Json::object());
      break;
    case JsonFault::Kind::syntax:
      faults.add("json_invalid", kBody / fault->byte, "JSON decode error", Json::object());
      break;
    case JsonFault::Kind::range:
      faults.add("json_invalid", kBody, "JSON decode error: a number is beyond a double's range",
                 Json::object());
      break;
  }
  return std::nullopt;
}

Observation read_observation(const ClientJson& value, const Place& place, BodyFaults& faults) {
  Observation observation;
  if (!value.is_object()) {
    faults.add("model_attributes_type", place,
               "Input should be a valid dictionary or object to extract fields from", value);
    return observation;
  }
  if (const auto strings = value.find("strings")) {
    read_strings(*strings, place / "strings", observation, faults);
  }
  if (const auto vectors = value.find("vectors")) {
    read_vectors(*vectors, place / "vectors", observation, faults);
  }
  if (const auto emotives = value.find("emotives")) {
    read_emotives(*emotives, place / "emotives", observation, faults);
  }
  if (const auto metadata = value.find("metadata")) {
    if (metadata->is_object()) {
      observation.metadata = metadata->copy();
    } else {
      faults.add("dict_type", place / "metadata", "Input should be a valid dictionary", *metadata);
    }
  }
  if (const auto id = value.find("unique_id"); id && !id->is_null()) {
    if (const auto text = id->string()) {
      observation.unique_id = *text;
    } else {
      faults.add("string_type", place / "unique_id", "Input should be a valid string", *id);
    }
  }
  return observation;
}

bool read_flag(const ClientJson& object, const char* key, bool fallback, BodyFaults& faults) {
  const auto value = object.find(key);
  if (!value) return fallback;
  if (const auto flag = value->boolean()) return *flag;
  faults.add("bool_type", kBody / key, "Input should be a valid boolean", *value);
  return fallback;
}

ObservationSequence read_sequence(const ClientJson& value, BodyFaults& faults) {
  ObservationSequence sequence;
  if (!value.is_object()) {
    faults.add("model_attributes_type", kBody,
               "Input should be a valid dictionary or object to extract fields from", value);
    return sequence;
  }
  const auto list = value.find("observations");
  const Place place = kBody / "observations";
  if (!list) {
    faults.add("missing", place, "Field required", value);
  } else if (!list->is_array()) {
    faults.add("list_type", place, "Input should be a valid list", *list);
  } else {
    sequence.observations.reserve(list->items().size());
    size_t i = 0;
    for (const ClientJson item : list->items()) {
      sequence.observations.push_back(read_observation(item, place / i++, faults));
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

net::HttpResponse map_response(const nlohmann::json& json) {
  return {.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
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
    case ErrorCode::cancelled:
      return detail(503, error.message);
    default:
      return detail(500, error.message);
  }
}

}  // namespace hoist::service
