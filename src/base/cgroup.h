// What the control groups of this process allow it, versions 1 and 2.
//
// A parent's limit binds its children, so limits are looked for up to the root; in a container the
// root is what the container sees. `root` stands before all paths (for tests).
#pragma once

#include <cstdint>
#include <string>

namespace hoist {

// CPUs that the quota allows, rounded up; 0: no limit.
int cgroup_cpus(const std::string& root = {});

// Bytes that may still be allocated before the limit is met, page cache counted as free since it
// gives way, and at least an eighth of the limit; UINT64_MAX: no limit.
uint64_t cgroup_memory_available(const std::string& root = {});

}  // namespace hoist
