// Whether there is room for input to measure with. Measuring takes a share only of what there is,
// since implementations need memory besides, and other programs do.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hoist::placement {

// `exhausted` where `bytes` are more than one `share`th of the machine's memory, or of what the
// control group leaves.
Status check_memory(uint64_t bytes, unsigned share);

// `exhausted` where `bytes` are more than a quarter of what is free in `directory`'s file system.
Status check_room(const std::string& directory, uint64_t bytes);

}  // namespace hoist::placement
