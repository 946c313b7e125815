// What one thread makes small copies with, or copies of memory that is pinned already.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/fence.h"
#include "device/host_end.h"
#include "device/pinned_pool.h"
#include "device/stream.h"
#include "device/transfer_state.h"

namespace hoist::device {

class TransferWorker {
 public:
  // With a slot of that many pinned bytes.
  static Result<std::unique_ptr<TransferWorker>> create(PinnedPool& pool, size_t slot);

  // Return when the copy is done; memory that is not pinned goes through the slot, which it fits.
  Status upload(std::span<const std::byte> from, std::byte* to);
  Status upload(HostReader& from, size_t size, std::byte* to);  // through the slot
  Status download(const std::byte* from, std::span<std::byte> to);

  Stream& stream() { return stream_; }
  Fence& fence(size_t number) { return fences_.list[number % fences_.list.size()]; }

  // Waits for what is on its way; false: the device was lost, and the slot's memory is gone.
  bool settle();

 private:
  static constexpr size_t kFences = 2;

  TransferWorker(PinnedPool& pool, Stream stream, PinnedBlock slot, Fences fences);
  bool needs_slot(std::span<const std::byte> memory);

  PinnedPool& pool_;
  Stream stream_;
  PinnedBlock slot_;
  Fences fences_;
  // Was pinned when it was asked about last. Where it is no more, the driver copies by its own
  // means.
  std::span<const std::byte> pinned_ = {};
};

// A call of Transfer (device/transfer.h) between pinned memory and the device, in pieces of which
// one waits while another is on its way.
class PinnedCopy final : public TransferState {
 public:
  PinnedCopy(const TransferRequest& request, uint64_t size, size_t piece, const std::byte* from,
             std::byte* to)
      : TransferState(request), chunks_(size, piece), from_(from), to_(to) {}

  // Errors are noted. False: the device was lost, and the worker with it.
  bool run(TransferWorker& worker);

 private:
  Status work(TransferWorker& worker);

  Chunks chunks_;
  const std::byte* from_;
  std::byte* to_;
};

}  // namespace hoist::device
