#include "graph/ffi/executor.h"

#include <string>
#include <utility>

#include "graph/memory/linear_pool.h"

namespace hoist::graph::ffi {

Result<std::shared_ptr<Buffer>> Executor::allocate(uint32_t length) {
  Result<std::shared_ptr<std::byte>> memory =
      LinearPool::process().allocate(uint64_t{length} * sizeof(float));
  if (!memory) return memory.error();
  return adopt(*std::move(memory), length, false);
}

Result<std::shared_ptr<Buffer>> Executor::adopt(std::shared_ptr<std::byte> memory, uint32_t length,
                                                bool is_read_only) {
  const Result<uint8_t> class_index = classes_.take();
  if (!class_index) {
    return fail(class_index.error().code,
                class_index.error().message + ": clean up buffers and tensors that are done with");
  }
  return std::make_shared<Buffer>(shared_from_this(), Buffer::Pool::linear, *class_index,
                                  std::move(memory), length, is_read_only);
}

Result<std::shared_ptr<Buffer>> Executor::allocate_boundary(uint8_t class_index, uint32_t width,
                                                            uint32_t height) {
  const auto beyond = [](const char* what, uint32_t value, const char* most) {
    return fail(ErrorCode::invalid_argument,
                std::string(what) + " " + std::to_string(value) + most);
  };
  if (class_index >= kClasses) return beyond("class", class_index, " >= 96: give one of 0 to 95");
  if (width > kPages) return beyond("width", width, " > 48: a class has 48 pages");
  if (height > kPageBytes) return beyond("height", height, " > 256: a page has 256 bytes");
  Result<std::shared_ptr<Slab>> slab = this->slab();
  if (!slab) return slab.error();
  std::byte* const data = (*slab)->class_data(class_index);
  return std::make_shared<Buffer>(shared_from_this(), Buffer::Pool::boundary, class_index,
                                  std::shared_ptr<std::byte>(*std::move(slab), data),
                                  width * height / sizeof(float));
}

Result<std::shared_ptr<Slab>> Executor::slab() {
  const std::lock_guard lock(mutex_);
  if (!slab_) {
    Result<std::shared_ptr<Slab>> made = Slab::create();
    if (!made) return made.error();
    slab_ = *std::move(made);
  }
  return slab_;
}

Buffer::~Buffer() {
  if (pool_ == Pool::linear) executor_->classes_.give_back(class_index_);
}

std::vector<uint64_t> row_major(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides(shape.size());
  uint64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

uint64_t Tensor::elements() const {
  uint64_t count = 1;
  for (const uint64_t extent : shape) count *= extent;
  return count;
}

namespace {

// Made before any call, and never destroyed: calls may come from static destructors.
HandleTable& table = *new HandleTable;

}  // namespace

HandleTable& handles() { return table; }

}  // namespace hoist::graph::ffi
