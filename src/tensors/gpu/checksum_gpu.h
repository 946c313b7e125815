// Checks XXH3-64 sums of many pieces of a CUDA device's memory at once.
//
//   Result<ChecksumGpu> checks = ChecksumGpu::create(pool, pieces.size());
//   Status status = checks->check(numbers, pieces, stream);    // both return at once
//   if (status) status = checks->collect(stream);
//   if (status) status = stream.synchronize();
//   if (checks->is_wrong(0)) …
//
// Long pieces go at the speed of memory where there are many of them; a single one is bound by the
// chain from each of its KiB to the next, some 20 GB/s. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"

namespace hoist::tensors {

struct DevicePiece {
  const std::byte* data = nullptr;  // fastest where it is aligned to 8 bytes
  uint64_t size = 0;
  uint64_t checksum = 0;
};

class ChecksumGpu {
 public:
  // For pieces numbered below `pieces`. The pool must outlive it.
  static Result<ChecksumGpu> create(device::PinnedPool& pool, size_t pieces);

  // Enqueues the check of pieces[i], whose number is numbers[i].
  Status check(std::span<const size_t> numbers, std::span<const DevicePiece> pieces,
               device::Stream& stream);

  // Enqueues the report of what was found so far.
  Status collect(device::Stream& stream);
  // By the last report that arrived: whether a piece of that number ever had another sum.
  bool is_wrong(size_t number) const;

 private:
  explicit ChecksumGpu(device::PinnedPool& pool) : pool_(&pool) {}

  device::PinnedPool* pool_;
  device::Buffer flags_;
  device::PinnedBlock report_;
};

}  // namespace hoist::tensors
