// What one call of Transfer (device/transfer.h) is made of: a job, whose chunks are worked off on
// lanes.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/buffer.h"
#include "device/chunks.h"
#include "device/fence.h"
#include "device/host_end.h"
#include "device/pinned_pool.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "device/transfer_state.h"

namespace hoist::device {

// Pinned memory on its way, or waiting for its next turn.
struct TransferSlot {
  PinnedBlock host;
  Fence fence;  // behind the last work on it
  Chunk chunk;  // that is on its way
  bool busy = false;
  Buffer staged;  // the chunk on the device, for decoding
};

// What one thread works with. It belongs to one job at a time.
struct TransferLane {
  Stream stream;
  PinnedBlock words;                // of the slots' fences
  std::vector<TransferSlot> slots;  // after the stream: their buffers are freed in its order
  // Was pinned when it was asked about last. Where it is no more, the driver copies by its own
  // means.
  std::span<const std::byte> pinned = {};

  // Waits for what is on its way on `used`; false: the device was lost, and the slots' memory is
  // gone.
  bool settle(Stream& used);

  static Result<std::unique_ptr<TransferLane>> create(PinnedPool& pool,
                                                      const TransferTuning& tuning);
};

class TransferJob : public TransferState {
 public:
  using TransferState::TransferState;
  virtual ~TransferJob() = default;

  // All lanes' copies go down one stream, behind the request's event; the stream must outlive the
  // run() calls. Else each lane's go down its own, and who calls has waited for the event.
  void share(Stream& stream) { shared_ = &stream; }
  // Until then threads look for what arrives (TransferTuning::look).
  void look_until(std::chrono::steady_clock::time_point end) { look_until_ = end; }

  // Works off chunks until there are none; returns when this lane's have arrived. False: the device
  // was lost, and the lane with it.
  bool run(TransferLane& lane);

 protected:
  // Makes the device busy with a chunk, in a slot that is free. Work that was enqueued before an
  // error is waited for.
  virtual Status begin(Stream& stream, TransferSlot& slot, Chunk chunk) = 0;
  // The device is done with it.
  virtual Status end(TransferSlot& slot) { return {}; }

 private:
  Status work(TransferLane& lane, Stream& stream);
  Status finish(TransferSlot& slot);

  Stream* shared_ = nullptr;
  std::chrono::steady_clock::time_point look_until_ = {};
};

// Host to device through the slots.
class UploadJob : public TransferJob {
 public:
  UploadJob(const TransferRequest& request, Chunks& chunks, HostReader& from,
            const Placement& placement)
      : TransferJob(request, chunks), from_(from), placement_(placement) {}

 protected:
  Status begin(Stream& stream, TransferSlot& slot, Chunk chunk) override;

 private:
  HostReader& from_;
  const Placement& placement_;
};

// Host to memory of the slot on the device, and from there wherever `decode` puts it.
class DecodeJob : public TransferJob {
 public:
  DecodeJob(const TransferRequest& request, Chunks& chunks, HostReader& from, size_t chunk,
            const Decode& decode)
      : TransferJob(request, chunks), from_(from), chunk_(chunk), decode_(decode) {}

 protected:
  Status begin(Stream& stream, TransferSlot& slot, Chunk chunk) override;

 private:
  HostReader& from_;
  const size_t chunk_;
  const Decode& decode_;
};

// Device to host through the slots.
class DownloadJob : public TransferJob {
 public:
  DownloadJob(const TransferRequest& request, Chunks& chunks, const std::byte* from, HostWriter& to)
      : TransferJob(request, chunks), from_(from), to_(to) {}

 protected:
  Status begin(Stream& stream, TransferSlot& slot, Chunk chunk) override;
  Status end(TransferSlot& slot) override;

 private:
  const std::byte* from_;
  HostWriter& to_;
};

// Either way, where the host's memory is pinned: the slots only keep count.
class PinnedJob : public TransferJob {
 public:
  PinnedJob(const TransferRequest& request, Chunks& chunks, const std::byte* from, std::byte* to)
      : TransferJob(request, chunks), from_(from), to_(to) {}

 protected:
  Status begin(Stream& stream, TransferSlot& slot, Chunk chunk) override;

 private:
  const std::byte* from_;
  std::byte* to_;
};

}  // namespace hoist::device
