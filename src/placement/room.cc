#include "placement/room.h"

#include <fmt/core.h>
#include <sys/statvfs.h>

#include "base/spare_memory.h"

namespace hoist::placement {

Status check_memory(uint64_t bytes, unsigned share) {
  if (bytes <= memory_within_reach() / share) return {};
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
