#include "capi/structs.h"

#include <fmt/core.h>

#include "capi/status.h"

namespace hoist::capi {

Result<size_t> struct_size(const void* given, const char* name) {
  if (Status there = needed(given, name); !there) return there.error();
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  // No version's struct ends inside a pointer.
  const bool whole = size % alignof(size_t) == 0;
  if (whole && size >= sizeof size && size <= kMostStructBytes) return size;
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: its first field must be its own size in bytes, not {}", name, size));
}

}  // namespace hoist::capi
