#include <algorithm>
#include <cctype>

#include "graph/ffi/operands.h"
#include "graph/ffi/session.h"

namespace hoist::graph::ffi {
namespace {

Result<uint64_t> registered(std::unique_ptr<Object> object) {
  const uint64_t handle = handles().add(std::move(object));
  if (handle == 0) {
    return fail(ErrorCode::exhausted, "16777215 handles exist: clean up those that are done with");
  }
  return handle;
}

template <typename Allocate>
Result<uint64_t> allocate(uint64_t executor, const Allocate& allocate) {
  const Operands operands(executor, Lifetime::pinned);
  if (!operands.has_executor()) return operands.no_executor();
  Result<std::shared_ptr<Buffer>> buffer = allocate(operands.executor());
  if (!buffer) return buffer.error();
  return register_buffer(*std::move(buffer));
}

}  // namespace

Error Operands::refused(const FoundBuffer& buffer, uint64_t handle, const char* what) const {
  const std::string name = what + std::string(" handle ") + std::to_string(handle);
  if (!buffer) {
    return fail(ErrorCode::not_found, name + " not found: it was cleaned up, or never allocated");
  }
  if (!owns(buffer)) {
    return fail(ErrorCode::invalid_argument, name + " belongs to another executor than " +
                                                 std::to_string(handle_) +
                                                 ": pass the one that allocated it");
  }
  return fail(ErrorCode::invalid_argument, name + " is read-only: copy it to a buffer first");
}

Result<uint64_t> register_buffer(std::shared_ptr<Buffer> buffer) {
  Buffer& it = *buffer;
  Result<uint64_t> handle = registered(std::make_unique<BufferEntry>(std::move(buffer)));
  if (handle) it.handle = *handle;
  return handle;
}

Result<uint64_t> register_tensor(Tensor tensor) {
  return registered(std::make_unique<TensorEntry>(std::move(tensor)));
}

Result<uint64_t> new_executor() {
  return registered(std::make_unique<ExecutorEntry>(std::make_shared<Executor>()));
}

Result<uint64_t> new_executor_with_backend(std::string_view backend) {
  const bool is_cpu = std::ranges::equal(backend, std::string_view("cpu"), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
  if (!is_cpu) return uint64_t{0};
  return new_executor();
}

void executor_cleanup(uint64_t executor) { handles().remove<ExecutorEntry>(executor); }

Result<uint64_t> allocate_buffer(uint64_t executor, uint32_t length) {
  return allocate(executor, [&](Executor& it) { return it.allocate(length); });
}

Result<uint64_t> allocate_boundary_buffer(uint64_t executor, uint8_t class_index, uint32_t width,
                                          uint32_t height) {
  return allocate(executor,
                  [&](Executor& it) { return it.allocate_boundary(class_index, width, height); });
}

Result<uint64_t> adopt_buffer(uint64_t executor, std::shared_ptr<std::byte> memory, uint32_t length,
                              bool is_read_only) {
  return allocate(executor,
                  [&](Executor& it) { return it.adopt(std::move(memory), length, is_read_only); });
}

void clear_all_registries() { handles().clear(); }

}  // namespace hoist::graph::ffi
