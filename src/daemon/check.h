// From a request that a stranger wrote to memory that may be touched: every number in it is looked
// up in, and bounded by, what the daemon itself knows. The request is a copy; it cannot change any
// more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "daemon/buffers.h"
#include "device/remote/ring_layout.h"
#include "device/remote/served_operation.h"

namespace hoist::daemon {

// A request's ranges and arguments, all inside. Holds the buffers: one that is freed meanwhile
// stays until this is gone.
class CheckedRequest {
 public:
  // `invalid_argument` or `not_found`.
  static Result<CheckedRequest> check(const hoist_request& request, const BufferTable& buffers,
                                      std::span<std::byte> pool);

  std::span<const device::remote::ServedMemory> memory() const { return {memory_.data(), ranges_}; }
  std::span<const uint64_t> arguments() const { return {arguments_.data(), argument_count_}; }
  bool uses_pool() const;

 private:
  std::array<device::remote::ServedMemory, HOIST_RING_MAX_RANGES> memory_ = {};
  std::array<std::shared_ptr<device::Buffer>, HOIST_RING_MAX_RANGES> held_;
  std::array<uint64_t, HOIST_RING_MAX_ARGUMENTS> arguments_ = {};
  size_t ranges_ = 0;
  size_t argument_count_ = 0;
};

}  // namespace hoist::daemon
