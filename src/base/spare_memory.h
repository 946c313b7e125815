// Whether there is memory for a second copy of something large, which a program did not ask for.
#pragma once

#include <cstdint>

namespace hoist {

// Whether so many bytes may be taken for a while: half of what the machine, and the control groups
// of this process, have available is left. Allocation alone does not say so: a group that is out of
// memory has a process killed. Few bytes (16 MiB) are not asked for.
bool has_spare_memory(uint64_t bytes);

}  // namespace hoist
