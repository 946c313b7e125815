// A segment's symbols in the memory of devices, as they lie on the host: tiles of 32 patterns. At
// 15 symbols of 16 bits that is 30 bytes a pattern, and nothing else of a pattern is there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"
#include "match/gpu/scan_job.h"
#include "match/segment_view.h"

namespace hoist::match {

class ScanWorkspace;

// One device that scans, and what its scans share. Thread-safe.
struct ScanDevice {
  explicit ScanDevice(device::Device& device);
  ~ScanDevice();

  device::Device& device;
  device::PinnedPool pool;
  device::Transfer transfer;
  std::atomic<uint64_t> held = 0;         // bytes of symbols
  std::atomic<bool> is_reported = false;  // that it failed
  std::mutex mutex;
  std::vector<std::unique_ptr<ScanWorkspace>> idle;
};

struct SegmentPart {
  std::shared_ptr<ScanDevice> device;
  device::Buffer symbols;
  std::vector<ScanRun> runs;  // their first symbols counted from the part's, groups not counted
};

class DeviceSegment {
 public:
  // Segments of at least `split_bytes` are dealt to all devices in equal parts, others go to the
  // one that holds the least. `exhausted` where they do not fit.
  static Result<std::unique_ptr<DeviceSegment>> upload(
      const SegmentView& segment, std::span<const std::shared_ptr<ScanDevice>> devices,
      uint64_t split_bytes);
  ~DeviceSegment();
  DeviceSegment(const DeviceSegment&) = delete;
  DeviceSegment& operator=(const DeviceSegment&) = delete;

  // In ascending order of their patterns.
  std::span<const SegmentPart> parts() const { return parts_; }
  bool is_wide() const { return is_wide_; }

 private:
  DeviceSegment() = default;

  std::vector<SegmentPart> parts_;
  bool is_wide_ = false;
};

// The patterns of a segment as runs, dealt to `parts` contiguous parts of about as many symbols.
struct DealtRuns {
  uint64_t first_symbol;
  uint64_t symbols;
  std::vector<ScanRun> runs;  // their first symbols counted from first_symbol
};
std::vector<DealtRuns> deal_runs(const SegmentView& segment, size_t parts);

}  // namespace hoist::match
