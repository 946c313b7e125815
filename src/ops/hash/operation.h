// The checksum programs as an operation of placement: what `hoist tune` measures them on.
#pragma once

#include <string>

#include "placement/operation.h"

namespace hoist::hash {

// For each program a variant of its name (one file), and one with "-many" behind it (several).
// `engine`: path of hoist-hash.
placement::Operation operation(const std::string& engine);

}  // namespace hoist::hash
