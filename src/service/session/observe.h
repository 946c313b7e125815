// What an observation does to a session, and what a session has learned to its node.
//
// The caller holds the session's mutex.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/node/node.h"
#include "service/session/session.h"

namespace hoist::service {

// Adds an event to short-term memory, and learns where that has reached the session's
// max_pattern_length: the name of the pattern, with prefix, if so. `invalid_argument` for vectors
// of a wrong length, and then nothing has changed.
Result<std::optional<std::string>> observe(Session& session, Node& node, Observation observation);

// Learns what short-term memory holds and empties it: the name with prefix, or an empty text where
// it is too short to be a pattern.
Result<std::string> learn(Session& session, Node& node);

}  // namespace hoist::service
