// The memory of one client and the daemon: header, queues, pool (device/remote/ring_layout.h).
//
// The client makes it, so that it counts as the client's, and seals it: nobody can shrink it under
// the other's hands, which would raise SIGBUS there. It is not inherited over fork: a child has
// none of it, and neither reads nor frees what its parent has in flight.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/file.h"
#include "base/result.h"
#include "device/remote/ring_layout.h"

namespace hoist::device::remote {

class SharedMemory {
 public:
  // `pool_size` in bytes, a multiple of 4096; `queues` 1 to HOIST_RING_MAX_QUEUES.
  static Result<SharedMemory> create(uint32_t queues, uint64_t pool_size);
  // What a client sent, whose descriptor stays the caller's. `invalid_argument` where it is no
  // sealed memory of exactly this size: only memory whose pages the kernel must give us is safe to
  // touch.
  static Result<SharedMemory> adopt(int descriptor, uint32_t queues, uint64_t pool_size);

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // For who sends it; -1 after close_descriptor().
  int fd() const { return fd_.get(); }
  // It stays mapped here; what else has the descriptor keeps the pages.
  void close_descriptor() { fd_.reset(); }
  uint32_t queues() const { return queues_; }
  hoist_ring_queue* queue(uint32_t index) const;
  std::span<std::byte> pool() const;

 private:
  Status map(int descriptor);

  UniqueFd fd_;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  uint32_t queues_ = 0;
  pid_t owner_ = 0;
};

}  // namespace hoist::device::remote
