// sort as an operation of placement: what `hoist tune` measures it on.
#pragma once

#include <string>

#include "placement/operation.h"

namespace hoist::sort {

// Variants "C" (bytes), "locale" (an installed locale with collation rules; measuring it is
// `unavailable` where there is none) and "numeric" (-n), on the CPU and on a GPU, opened by the
// program itself ("cuda") or lent by a hoistd ("hoistd"). `engine`: path of hoist-sort.
placement::Operation operation(const std::string& engine);

}  // namespace hoist::sort
