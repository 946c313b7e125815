// One load() of model_loader.h. The transfer's threads only count what is on its way; a thread puts
// the work on each region behind its copies, and another tells of what has become ready.
#pragma once

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
  // All of these must outlive it; `arena` has plan.arena_bytes(), `model` the final tensors.
  LoadRun(const HoloTensorReader& file, const GpuLoadOptions& options, const PackedPlan& plan,
          PartDecoder& decoder, device::View<std::byte> arena, const GpuModel& model);
  // Nothing of it is still running afterwards.
  ~LoadRun();

  Status start();
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

  void decode_regions();
  Status decode(const Arrived& arrived);
  std::vector<PartTask> tasks(const PackedRegion& region) const;
  bool is_damaged(const ReadyTensor& ready) const;
  void tell();
  Status tell(const Decoded& decoded);
  void note(const Status& status);
  Status noted();
  void join();

  const HoloTensorReader& file_;
  const GpuLoadOptions& options_;
  const PackedPlan& plan_;
  PartDecoder& decoder_;
  const device::View<std::byte> arena_;
  const GpuModel& model_;

  std::mutex arrivals_mutex_;
  std::vector<Arrival> arrivals_;
  size_t next_ = 0;  // regions before it were handed over
  std::optional<device::Stream> compute_;
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
