// The checksum programs as an operation of placement: what `hoist tune` measures them on.
#pragma once

#include <string>

#include "placement/operation.h"

namespace hoist::hash {

// For each program a variant of its name (one file), and one with "-many" behind it (several). For
// sha256sum also "-small": files of 16 KiB, which a GPU that hoistd lends may hash (gpu_hasher.h).
// `engine`: path of hoist-hash.
placement::Operation operation(const std::string& engine);

}  // namespace hoist::hash
