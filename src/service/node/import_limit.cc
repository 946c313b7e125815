#include "service/node/import_limit.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::service {

Status ImportLimit::take(uint64_t bytes) {
  taken_ += bytes;
  if (taken_ <= std::max(kFloor, came_ * kMostRatio)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("its {} bytes stand for more than {} times as many: send it without "
                          "compression and without dictionaries",
                          came_, kMostRatio));
}

}  // namespace hoist::service
