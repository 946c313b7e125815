// Which observations take longer than the other requests of a loop should wait, and what they need.
// The caller holds the session's mutex.
#pragma once

#include <cstddef>

#include "service/api/body.h"
#include "service/node/node.h"
#include "service/session/session.h"

namespace hoist::service {

// A body whose parsing alone takes long.
constexpr size_t kLongBody = 256 << 10;

bool takes_long(const Observation& observation, const Session& session, const Node& node);
bool takes_long(const ObservationSequence& sequence, const Session& session, const Node& node);
// The same for learning what short-term memory holds.
bool learning_takes_long(const Session& session, const Node& node);

// Whether something may be learned.
bool may_learn(const Observation& observation, const Session& session);
bool may_learn(const ObservationSequence& sequence, const Session& session);
bool may_learn(const Session& session);

}  // namespace hoist::service
