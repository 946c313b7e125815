// What the session's sources of tensors share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/ffi/operands.h"

namespace hoist::graph::ffi {

using Sizes = std::vector<uint64_t>;

inline Error invalid(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

inline std::string text(uint64_t number) { return std::to_string(number); }

inline FoundTensor find_tensor(uint64_t handle) {
  return handles().find<TensorEntry>(handle, Lifetime::pinned);
}

}  // namespace hoist::graph::ffi
