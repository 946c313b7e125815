// How much memory there is, and whether enough for a second copy of something large, which a
// program did not ask for.
#pragma once

#include <cstdint>

namespace hoist {

// Bytes that this process may have in all: the machine's memory, or what its control groups have
// available.
uint64_t memory_within_reach();

// Whether so many bytes may be taken for a while: half of what the machine, and the control groups
// of this process, have available is left. Allocation alone does not say so: a group that is out of
// memory has a process killed. Few bytes (16 MiB) are not asked for.
bool has_spare_memory(uint64_t bytes);

}  // namespace hoist
