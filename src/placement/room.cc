#include "placement/room.h"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/cgroup.h"

namespace hoist::placement {

Status check_memory(uint64_t bytes, unsigned share) {
  const auto physical = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes <= std::min(physical, cgroup_memory_available()) / share) return {};
  return fail(ErrorCode::exhausted, fmt::format("too little memory for {} bytes of input", bytes));
}

Status check_room(const std::string& directory, uint64_t bytes) {
  struct statvfs info;
  if (::statvfs(directory.c_str(), &info) != 0) return {};
  constexpr uint64_t kShare = 4;
  if (bytes <= info.f_bavail * info.f_frsize / kShare) return {};
  return fail(ErrorCode::exhausted, fmt::format("no room for {} bytes ({}): set TMPDIR to a place "
                                                "with more",
                                                bytes, directory));
}

}  // namespace hoist::placement
