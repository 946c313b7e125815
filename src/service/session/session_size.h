// How much a session holds.
#pragma once

#include "service/session/session.h"

namespace hoist::service {

// Whether copying what it holds, or writing it, takes longer than the other requests of a loop
// should wait.
bool is_large(Session& session);

}  // namespace hoist::service
