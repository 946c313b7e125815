// Decompression by gzip as an operation of placement: what `hoist tune` measures it on.
#pragma once

#include <string>

#include "placement/operation.h"

namespace hoist::gunzip {

// Variant "gzip": `gzip -dc` of one file; sizes are compressed bytes. `engine`: path of
// hoist-gunzip.
placement::Operation operation(const std::string& engine);

}  // namespace hoist::gunzip
