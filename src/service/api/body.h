// Request bodies: JSON that is checked, and the answers to what is wrong with it, in the form that
// clients of the reference know (FastAPI's 422).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "net/http/message.h"
#include "service/session/client_json.h"
#include "service/session/observation.h"

namespace hoist::service {

using Json = nlohmann::ordered_json;

// Where a value lies in a request: "body", then keys and numbers. A step is as long-lived as the
// one that it goes on from.
class Place {
 public:
  explicit Place(std::string_view begin) : step_(begin) {}
  Place operator/(std::string_view key) const { return {this, key}; }
  Place operator/(size_t index) const { return {this, index}; }
  Json json() const;

 private:
  using Step = std::variant<std::string_view, size_t>;
  Place(const Place* before, Step step) : before_(before), step_(step) {}

  const Place* before_ = nullptr;
  Step step_;
};
inline const Place kBody = Place("body");

// What is wrong with a body, one thing or several.
struct BodyFaults {
  Json list = Json::array();
  bool empty() const { return list.empty(); }
  void add(const char* type, const Place& place, std::string message, Json input = nullptr);
  void add(const char* type, const Place& place, std::string message, const ClientJson& input);
  net::HttpResponse response() const;  // 422
};

// Parses a body; none with a fault where it is no JSON. Depth and size are bounded.
std::optional<JsonDocument> parse_body(const std::string& body, BodyFaults& faults);

// `place` is where `value` lies in the body.
Observation read_observation(const ClientJson& value, const Place& place, BodyFaults& faults);

struct ObservationSequence {
  std::vector<Observation> observations;
  bool learn_after_each = false;
  bool learn_at_end = false;
  bool clear_stm_between = false;
};
ObservationSequence read_sequence(const ClientJson& value, BodyFaults& faults);

// A field of an object, with a fault where it is of another kind. `fallback` where it is missing.
bool read_flag(const ClientJson& object, const char* key, bool fallback, BodyFaults& faults);

// 200 with the JSON. Objects with as many keys as clients like are maps: Json looks a key up one by
// one.
net::HttpResponse json_response(const Json& json, int status = 200);
net::HttpResponse map_response(const nlohmann::json& json);
// {"detail": …}
net::HttpResponse detail(int status, const Json& what);
// 503: too much waits already.
net::HttpResponse busy();
// The status that an error of ours has, and its message.
net::HttpResponse error_response(const Error& error);

}  // namespace hoist::service
