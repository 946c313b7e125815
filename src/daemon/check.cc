#include "daemon/check.h"

#include <algorithm>
#include <utility>

namespace hoist::daemon {

using device::remote::ServedMemory;

Result<CheckedRequest> CheckedRequest::check(const hoist_request& request,
                                             const BufferTable& buffers,
                                             std::span<std::byte> pool) {
  if (request.range_count > HOIST_RING_MAX_RANGES ||
      request.argument_count > HOIST_RING_MAX_ARGUMENTS || request.reserved != 0) {
    return fail(ErrorCode::invalid_argument, "more ranges or arguments than there are (request)");
  }
  CheckedRequest checked;
  checked.ranges_ = request.range_count;
  checked.argument_count_ = request.argument_count;
  std::copy_n(request.arguments, checked.argument_count_, checked.arguments_.begin());
  for (size_t i = 0; i < checked.ranges_; ++i) {
    const hoist_range& range = request.ranges[i];
    std::span<std::byte> whole = pool;
    if (range.buffer != 0) {
      std::shared_ptr<device::Buffer> buffer = buffers.find(range.buffer);
      if (buffer == nullptr) return fail(ErrorCode::not_found, "no such buffer (request)");
      whole = {static_cast<std::byte*>(buffer->data()), buffer->size()};
      checked.held_[i] = std::move(buffer);
    }
    if (range.offset > whole.size() || range.length > whole.size() - range.offset) {
      return fail(ErrorCode::invalid_argument, "a range that is not inside (request)");
    }
    checked.memory_[i] = {whole.data() + range.offset, range.length, range.buffer == 0};
  }
  return checked;
}

bool CheckedRequest::uses_pool() const {
  return std::any_of(memory_.begin(), memory_.begin() + static_cast<ptrdiff_t>(ranges_),
                     [](const ServedMemory& part) { return part.in_pool; });
}

}  // namespace hoist::daemon
