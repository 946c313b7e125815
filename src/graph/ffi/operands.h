// Finding what the handles of a call name, with the messages of calls that name nothing. For the
// session's sources.
#pragma once

#include <string>

#include "graph/ffi/executor.h"

namespace hoist::graph::ffi {

using FoundExecutor = HandleTable::Pin<ExecutorEntry>;
using FoundBuffer = HandleTable::Pin<BufferEntry>;
using FoundTensor = HandleTable::Pin<TensorEntry>;

inline Error executor_not_found(uint64_t handle) {
  return fail(ErrorCode::not_found, "Executor handle " + std::to_string(handle) +
                                        " not found: make one with new_executor()");
}

inline Error tensor_not_found(uint64_t handle) {
  return fail(ErrorCode::not_found, "Tensor handle " + std::to_string(handle) +
                                        " not found: it was cleaned up, or never made");
}

inline Error buffer_not_found(uint64_t handle) {
  return fail(ErrorCode::not_found, "Buffer handle " + std::to_string(handle) +
                                        " not found: it was cleaned up, or never allocated");
}

inline Error too_small(const std::string& what, uint64_t length, uint64_t need) {
  return fail(ErrorCode::invalid_argument, what + " too small: len=" + std::to_string(length) +
                                               ", need=" + std::to_string(need));
}

// The buffers of one call. `what` is what messages call one: "Buffer".
class Operands {
 public:
  Operands(uint64_t executor, Lifetime lifetime)
      : table_(handles()),
        lifetime_(lifetime),
        handle_(executor),
        executor_(table_.find<ExecutorEntry>(executor, lifetime)) {}

  bool has_executor() const { return static_cast<bool>(executor_); }
  Executor& executor() const { return *executor_->executor; }
  FoundBuffer find(uint64_t buffer) const { return table_.find<BufferEntry>(buffer, lifetime_); }
  // Whether it was found and is the executor's.
  bool owns(const FoundBuffer& buffer) const {
    return buffer && buffer->executor == executor_->executor.get();
  }
  bool may_write(const FoundBuffer& buffer) const { return owns(buffer) && !buffer->is_read_only; }

  // Why has_executor(), owns() or may_write() said no.
  Error no_executor() const { return executor_not_found(handle_); }
  Error refused(const FoundBuffer& buffer, uint64_t handle, const char* what) const;

 private:
  HandleTable& table_;
  const Lifetime lifetime_;
  const uint64_t handle_;
  const FoundExecutor executor_;
};

// Registers it; `exhausted` where the table is full.
Result<uint64_t> register_buffer(std::shared_ptr<Buffer> buffer);
Result<uint64_t> register_tensor(Tensor tensor);

}  // namespace hoist::graph::ffi
