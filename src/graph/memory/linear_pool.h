// Memory for buffers of any size, of which programs make and drop many of the same few sizes.
//
//   Result<std::shared_ptr<std::byte>> data = LinearPool::process().allocate(4000);
//
// Zeroed where nothing else is asked for, aligned to 64 bytes, and the memory of nobody else until
// the last copy of the pointer is gone. Up to 1 MiB it comes from size classes, four to each
// doubling, and goes back to them; what lies there is at most 64 MiB. More comes from the system
// and goes back there. Any thread may allocate and drop. A child after fork() has its own copy of
// everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/fork.h"
#include "base/result.h"

namespace hoist::graph {

class LinearPool {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kMostPooled = size_t{1} << 20;
  static constexpr size_t kMostIdle = size_t{64} << 20;

  // Never destroyed: memory may be dropped by static destructors.
  static LinearPool& process();

  LinearPool() = default;
  ~LinearPool();
  LinearPool(const LinearPool&) = delete;
  LinearPool& operator=(const LinearPool&) = delete;

  enum class Contents : uint8_t { zeros, unset };

  // Not null for 0 bytes either. `exhausted` where there is no memory. The pool outlives the
  // result.
  Result<std::shared_ptr<std::byte>> allocate(size_t bytes, Contents contents = Contents::zeros);

  // Bytes that lie in the size classes.
  size_t idle() const;

  // The size class that serves so many bytes, and what it gives.
  static size_t class_of(size_t bytes);
  static size_t class_bytes(size_t size_class);

 private:
  static constexpr size_t kSizeClasses = 57;
  static constexpr size_t kPage = 4096;
  static constexpr size_t kPieces = 64 * 1024;  // that smaller sizes are cut from

  std::byte* take(size_t size_class);
  void cut_pieces(size_t size_class);
  void give_back(std::byte* data, size_t size_class);

  mutable ForkSafeMutex mutex_;
  std::vector<std::byte*> free_[kSizeClasses];
  std::vector<std::byte*> cut_;
  size_t idle_ = 0;
};

}  // namespace hoist::graph
