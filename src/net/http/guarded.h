// Calls of handlers.
#pragma once

#include <exception>

#include "base/log.h"

namespace hoist::net {

// What a handler throws (there is no memory, say) ends its request alone: the reply, which it
// drops, answers 500.
template <typename Call>
void guarded(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    log(LogLevel::error, "a request failed: {}", error.what());
  }
}

}  // namespace hoist::net
