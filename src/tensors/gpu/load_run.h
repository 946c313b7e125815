// One load() of model_loader.h. The transfer's threads only count what is on its way; a thread puts
// the work on each region behind its copies, and another tells of what has become ready. In a ring
// copies go behind the work on what they overwrite.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "tensors/gpu/hand_over.h"
#include "tensors/gpu/model_loader.h"
#include "tensors/gpu/packed_plan.h"
#include "tensors/gpu/part_decoder.h"

namespace hoist::tensors {

class LoadRun {
 public:
  using MakeDecoder = std::function<Result<std::unique_ptr<PartDecoder>>()>;

  // All of these must outlive it; `ring` has plan.ring_bytes(), `model` the final tensors.
  LoadRun(const HoloTensorReader& file, const LoadOptions& options, const PackedPlan& plan,
          device::Span<std::byte> ring, const DeviceModel& model);
  // Nothing of it is still running afterwards.
  ~LoadRun();

  // The decoder is made beside the first copies.
  Status start(MakeDecoder make_decoder);
  // Where these bytes of the arena go (device::Placement).
  Result<std::optional<device::Span<std::byte>>> place(uint64_t offset, size_t size,
                                                       device::Stream& stream);
  // The copy of these bytes of the arena is on the stream (device::TransferRequest::enqueued).
  Status take(uint64_t offset, size_t size, device::Stream& stream);
  // Waits for everything; the tensors whose shards or parts were not as written.
  Result<std::vector<size_t>> finish();

 private:
  struct Arrival {
    uint64_t missing = 0;  // bytes of the region
    std::set<device::Stream*> streams;
    std::vector<device::Event>
        events;  // made before, when nobody waits: as many as one stream needs
  };
  // Behind the copies of a region.
  struct Arrived {
    const PackedRegion* region = nullptr;
    std::vector<device::Event> copies;
  };
  struct Decoded {
    const PackedRegion* region = nullptr;
    device::Event done;
  };

  // For a plan with a ring: the work on a region is on the stream, and an event behind it.
  struct Freed {
    uint64_t before = 0;
    device::Event event;
  };

  void decode_regions(const MakeDecoder& make_decoder);
  Status decode(const Arrived& arrived);
  Status free_behind(const PackedRegion& region);
  std::byte* at(uint64_t arena) const { return ring_.data + plan_.in_ring(arena); }
  std::vector<PartTask> tasks(const PackedRegion& region) const;
  bool is_damaged(const ReadyTensor& ready) const;
  void tell();
  Status tell(const Decoded& decoded);
  void note(const Status& status);
  Status noted();
  void join();

  const HoloTensorReader& file_;
  const LoadOptions& options_;
  const PackedPlan& plan_;
  const device::Span<std::byte> ring_;
  const DeviceModel& model_;
  std::unique_ptr<PartDecoder> decoder_;  // of the thread that decodes, then of the one that tells

  std::mutex arrivals_mutex_;
  std::vector<Arrival> arrivals_;
  size_t next_ = 0;  // regions before it were handed over
  std::optional<device::Stream> compute_;
  std::mutex freed_mutex_;
  std::condition_variable freed_more_;
  std::vector<Freed> freed_;  // ascending
  HandOver<Arrived> arrived_;
  HandOver<Decoded> decoded_;
  std::set<size_t> damaged_;  // of the thread that tells
  std::thread decoding_;
  std::thread telling_;
  std::mutex error_mutex_;
  std::optional<Error> error_;
};

// What the curve says of a tensor's first parts.
double quality_of(const HoloTensor& tensor, size_t parts);

}  // namespace hoist::tensors
