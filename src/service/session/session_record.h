// A durable session as earlier versions wrote it: one record.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "service/session/session.h"

namespace hoist::service {

// `corrupt` for anything that they did not write.
Result<std::shared_ptr<Session>> decode_session_record(std::string_view bytes);

}  // namespace hoist::service
