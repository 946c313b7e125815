// Bodies of requests to the match service: JSON as nlohmann::json sees it, and what is read of it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "service/api/body.h"
#include "service/node/pattern_lines.h"
#include "service/session/client_json_testing.h"

namespace {

using namespace hoist::service;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_observation(const Observation& observation) {
  check(std::is_sorted(observation.emotives.begin(), observation.emotives.end()));
  check(observation.metadata.is_object());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(difference(text).empty());

  BodyFaults faults;
  const auto body = parse_body(text, faults);
  check(body.has_value() == faults.empty());
  if (body) {
    check_observation(read_observation(body->root(), kBody, faults));
    for (const Observation& one : read_sequence(body->root(), faults).observations) {
      check_observation(one);
    }
    SessionConfig config;
    if (body->root().is_object()) (void)config.update(body->root().copy());
  }
  check(faults.list.size() <= 20);
  const auto response = faults.response();
  check(response.status == 422);
  check(nlohmann::json::accept(response.body));

  if (const auto record = parse_pattern_line(text)) {
    check(record->frequency > 0);
    check(std::none_of(record->events.begin(), record->events.end(),
                       [](const Event& event) { return event.empty(); }));
  }
  return 0;
}
