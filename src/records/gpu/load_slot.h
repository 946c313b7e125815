// One of some batches of blocks that are under way to a device at a time: memory, a stream, and the
// jobs of the batch.
#pragma once

#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/stream.h"
#include "records/gpu/block_plan.h"

namespace hoist::records {

class LoadSlot {
 public:
  static Result<LoadSlot> create(device::PinnedPool& pool);
  LoadSlot(LoadSlot&&) = default;
  ~LoadSlot();

  device::Stream& stream() { return *stream_; }
  Arena& staged() { return *staged_; }
  Arena& scratch() { return *scratch_; }

  // Waits for the work of the batch before, and begins another.
  Status begin();

  // Enqueues what a batch needs, `repeats` times. False where its jobs have no room; then nothing
  // is enqueued.
  Result<bool> start(const std::vector<BlockJobs>& batch, uint32_t* flags, int repeats);

  uint64_t copied_bytes() const { return copied_; }

 private:
  LoadSlot() = default;

  std::unique_ptr<device::Stream> stream_;
  device::PinnedBlock pinned_;
  device::PinnedBlock pinned_jobs_;
  device::Buffer device_staged_;
  device::Buffer device_jobs_;
  device::Buffer device_scratch_;
  std::unique_ptr<Arena> staged_ = std::make_unique<Arena>();
  std::unique_ptr<Arena> scratch_ = std::make_unique<Arena>();
  std::unique_ptr<Arena> jobs_ = std::make_unique<Arena>();
  uint64_t copied_ = 0;
};

}  // namespace hoist::records
