#include "graph/classes/address.h"

#include <fmt/core.h>

#include "graph/classes/classes.h"

namespace hoist::graph {

static_assert(PhiAddress::kBytes == kByteClasses * BeltAddress::kBytes);

Result<BeltAddress> BeltAddress::at(size_t offset) {
  if (offset >= kBytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no byte {} in a class: give one from 0 to {}", offset, kBytes - 1));
  }
  return BeltAddress{.page = static_cast<uint8_t>(offset / kPageBytes),
                     .byte = static_cast<uint8_t>(offset % kPageBytes)};
}

Result<PhiAddress> PhiAddress::in_class(size_t index, size_t offset) {
  if (index >= kByteClasses) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no class {}: give one from 0 to {}", index, kByteClasses - 1));
  }
  const Result<BeltAddress> within = BeltAddress::at(offset);
  if (!within) return within.error();
  return PhiAddress{.index = static_cast<uint8_t>(index), .within = *within};
}

Result<PhiAddress> PhiAddress::at(size_t offset) {
  if (offset >= kBytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no byte {} in the memory of the classes: give one from 0 to {}",
                            offset, kBytes - 1));
  }
  return in_class(offset / BeltAddress::kBytes, offset % BeltAddress::kBytes);
}

}  // namespace hoist::graph
