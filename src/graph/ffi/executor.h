// Executors and their buffers: what handles name.
//
// The aliasing rule. A linear buffer shares its memory with nobody; its class is a number, the
// lowest that no linear buffer of the executor has, free again when the buffer, its handle and its
// tensors are gone. A boundary buffer is the beginning of its class in the executor's slab: all
// boundary buffers of one class begin at the same byte, and the slab keeps what was written as long
// as the executor or a buffer of it lives. The two never overlap.
//
// Memory outlives everything that names it: a buffer its executor, a view (BufferMemory) both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fork.h"
#include "base/result.h"
#include "graph/ffi/handle_table.h"
#include "graph/memory/class_set.h"
#include "graph/memory/slab.h"

namespace hoist::graph::ffi {

class Buffer;

class Executor : public std::enable_shared_from_this<Executor> {
 public:
  // A linear buffer of `length` f32 zeros. `exhausted` where all classes are taken, or memory is.
  Result<std::shared_ptr<Buffer>> allocate(uint32_t length);
  // `invalid_argument` beyond the class's 48 pages of 256 bytes.
  Result<std::shared_ptr<Buffer>> allocate_boundary(uint8_t class_index, uint32_t width,
                                                    uint32_t height);
  // Takes a class as allocate() does, for memory of somebody else's.
  Result<std::shared_ptr<Buffer>> adopt(std::shared_ptr<std::byte> memory, uint32_t length,
                                        bool is_read_only);

 private:
  friend Buffer;
  Result<std::shared_ptr<Slab>> slab();

  ClassSet classes_;
  ForkSafeMutex mutex_;
  std::shared_ptr<Slab> slab_;  // made when it is first needed
};

class Buffer {
 public:
  enum class Pool : uint8_t { linear, boundary };

  Buffer(std::shared_ptr<Executor> executor, Pool pool, uint8_t class_index,
         std::shared_ptr<std::byte> memory, uint32_t length, bool is_read_only = false)
      : executor_(std::move(executor)),
        memory_(std::move(memory)),
        length_(length),
        pool_(pool),
        class_index_(class_index),
        is_read_only_(is_read_only) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  float* data() const { return reinterpret_cast<float*>(memory_.get()); }
  uint32_t length() const { return length_; }
  uint64_t bytes() const { return uint64_t{length_} * sizeof(float); }
  Pool pool() const { return pool_; }
  uint8_t class_index() const { return class_index_; }
  bool is_read_only() const { return is_read_only_; }
  const Executor* executor() const { return executor_.get(); }
  const std::shared_ptr<std::byte>& memory() const { return memory_; }

  // The handle that it was last registered under; 0: none.
  std::atomic<uint64_t> handle = 0;

 private:
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<std::byte> memory_;
  const uint32_t length_;
  const Pool pool_;
  const uint8_t class_index_;
  const bool is_read_only_;
};

// Row-major strides of a shape.
std::vector<uint64_t> row_major(const std::vector<uint64_t>& shape);

// Elements of a linear buffer, by strides.
struct Tensor {
  std::shared_ptr<Buffer> buffer;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;
  uint64_t offset = 0;

  uint64_t elements() const;
  // Whether the strides are those of row_major(); the offset does not matter.
  bool is_contiguous() const { return strides == row_major(shape); }
  float* data() const { return buffer->data() + offset; }
};

struct ExecutorEntry : Object {
  static constexpr Kind kKind = Kind::executor;
  explicit ExecutorEntry(std::shared_ptr<Executor> it) : Object(kKind), executor(std::move(it)) {}
  const std::shared_ptr<Executor> executor;
};

struct BufferEntry : Object {
  static constexpr Kind kKind = Kind::buffer;
  explicit BufferEntry(std::shared_ptr<Buffer> it)
      : Object(kKind),
        data(it->data()),
        length(it->length()),
        is_read_only(it->is_read_only()),
        executor(it->executor()),
        buffer(std::move(it)) {}
  // As the buffer has them: one step nearer.
  float* const data;
  const uint32_t length;
  const bool is_read_only;
  const Executor* const executor;
  const std::shared_ptr<Buffer> buffer;
};

struct TensorEntry : Object {
  static constexpr Kind kKind = Kind::tensor;
  explicit TensorEntry(Tensor it) : Object(kKind), tensor(std::move(it)) {}
  const Tensor tensor;
};

// The one of this process.
HandleTable& handles();

}  // namespace hoist::graph::ffi
