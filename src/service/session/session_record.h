// A session as bytes, for those that are to survive a restart.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "service/session/session.h"

namespace hoist::service {

// With the session's mutex held.
std::string encode_session(const Session& session);
// `corrupt` for anything that encode_session() does not write.
Result<std::shared_ptr<Session>> decode_session(std::string_view bytes);

}  // namespace hoist::service
