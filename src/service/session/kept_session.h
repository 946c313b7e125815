// What the service's store has of a session that is to survive a restart.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "service/session/numbered_list.h"
#include "service/session/observation.h"

namespace hoist::service {

struct KeptSession {
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  std::shared_ptr<const Observation> last;
  NumberRange events;  // of short-term memory and of the state before it was learned
  NumberRange emotives;
  NumberRange metadata;
  NumberRange vectors;
};

}  // namespace hoist::service
