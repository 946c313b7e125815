// Searches of stable segments on GPUs: their symbols stay in device memory while they live.
//
//   GpuScan scan(devices);
//   scan.hold(segment_owner, view);             // now, or with the first search
//   auto found = scan.search(segment_owner, view, queries, options);
//
// It answers what search() (match/scan/search.h) answers, to the bit, whatever happens to a device:
// a segment that does not fit, a device that is lost or out of memory, states without symbols are
// searched on the CPU, and the first time that a device fails is logged. A segment that did not fit
// is sent again, once, after another one was let go or expect_memory() was called.
//
// Thread-safe. A search that comes while another one sends the segment to the devices goes to the
// CPU and does not wait. Any device of device/device.h will do; on the CPU device the same code
// runs as plain loops, for tests.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "match/gpu/device_bytes.h"
#include "match/gpu/device_segment.h"
#include "match/gpu/scan_workspace.h"
#include "match/scan/search.h"
#include "match/score/block_summary.h"

namespace hoist::match {

class GpuScan {
 public:
  // What keeps a segment's memory alive.
  using Owner = std::shared_ptr<const void>;

  // They must outlive it.
  explicit GpuScan(std::span<device::Device* const> devices, const ScanTuning& tuning = {});

  // Sends the segment to the devices, where it stays while the owner lives. Whether it is there.
  bool hold(const Owner& owner, const SegmentView& segment);

  // Memory may have become free for another reason: what did not fit may be sent again.
  void expect_memory();

  Result<std::vector<std::vector<Match>>> search(const Owner& owner, const SegmentView& segment,
                                                 std::span<const std::span<const uint32_t>> queries,
                                                 const SearchOptions& options,
                                                 ThreadPool& pool = ThreadPool::process());

  // The blocks of patterns of the segment (their indices) with a state of vocabulary ids. False
  // where no device answered or it was cancelled; `summaries`, as many as patterns, are then
  // undefined.
  bool summarize_blocks(const Owner& owner, const SegmentView& segment,
                        std::span<const uint32_t> state, std::span<const uint32_t> patterns,
                        const std::stop_token& stop, std::span<BlockSummary> summaries);

  struct Statistics {
    uint64_t on_devices = 0;  // searches that devices answered
    uint64_t on_cpu = 0;      // searches that they should have, but the CPU did
    uint64_t summarized = 0;  // patterns whose blocks devices found
  };
  Statistics statistics() const;
  // Bytes of symbols that each device holds.
  std::vector<DeviceBytes> held() const;
  // The names of the devices: "cuda:0, cuda:1".
  std::string names() const;

 private:
  struct Held {
    std::weak_ptr<const void> owner;
    std::shared_ptr<DeviceSegment> segment;  // none: it is on its way, or stays on the CPU
    std::optional<uint64_t> lacked_at;       // how often memory was freed when it did not fit
  };

  std::shared_ptr<DeviceSegment> find(const Owner& owner, const SegmentView& segment);
  void report(ScanDevice& device, const Error& error);

  const ScanTuning tuning_;
  std::vector<std::shared_ptr<ScanDevice>> devices_;
  std::mutex mutex_;
  std::unordered_map<const void*, Held> held_;
  uint64_t freed_ = 0;  // how often memory may have become free
  std::atomic<uint64_t> on_devices_ = 0;
  std::atomic<uint64_t> on_cpu_ = 0;
  std::atomic<uint64_t> summarized_ = 0;
  std::atomic<bool> has_reported_blocks_ = false;  // that a device failed to find them
};

}  // namespace hoist::match
