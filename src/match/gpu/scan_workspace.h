// The memory of one scan at a time on one device: a stream, what is sent, what comes back. Kept and
// used again.
//
//   workspace.begin(part, is_wide, states, scorer, wants_bins);  // returns at once
//   Result<ScanCounts> counts = workspace.finish();              // waits
//   Status got = workspace.fetch(found);                         // unless some were lost
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/stream.h"
#include "match/gpu/device_segment.h"
#include "match/gpu/scan_plan.h"

namespace hoist::match {

struct ScanTuning {
  uint64_t found_capacity = 1 << 20;    // matches of a scan, at first
  uint64_t carry_bytes = 256ull << 20;  // scratch for long states, at most
  uint64_t split_bytes = 256ull << 20;  // symbols from which on all devices share a segment
  uint32_t states = 256;                // of a batch, at most
  uint64_t rescored = 1 << 22;          // candidates that the CPU scores again, at most
};

struct ScanCounts {
  uint64_t found = 0;
  bool has_all = true;              // else there was no room for some
  std::vector<uint32_t> bins = {};  // kScoreBins for each state, where they were wanted
};

class ScanWorkspace {
 public:
  static Result<std::unique_ptr<ScanWorkspace>> create(ScanDevice& device,
                                                       const ScanTuning& tuning);
  // Waits for what is under way.
  ~ScanWorkspace();
  ScanWorkspace(const ScanWorkspace&) = delete;
  ScanWorkspace& operator=(const ScanWorkspace&) = delete;

  // The part must stay until finish().
  Status begin(const SegmentPart& part, bool is_wide, std::span<const ScanState> states,
               Scorer scorer, bool wants_bins);
  Result<ScanCounts> finish();
  // Room for as many matches as were found; begin() then finds them all.
  Status grow();
  // Appends the matches in ascending order (found_entry).
  Status fetch(std::vector<uint64_t>& found);

 private:
  // Host memory that the device writes or reads by itself.
  struct Pinned {
    device::PinnedBlock block;
    std::optional<device::Event>
        lost;  // never recorded: where a lost device may use the block still
  };

  ScanWorkspace(ScanDevice& device, device::Stream stream, const ScanTuning& tuning)
      : device_(device), tuning_(tuning), stream_(std::move(stream)) {}
  Status ensure(uint64_t size, device::Buffer& buffer);
  Status ensure(uint64_t size, Pinned& pinned);
  Status make_room(uint64_t capacity);
  Status send(std::span<const std::byte> bytes);
  Status scan(const ScanPlan& plan, const SegmentPart& part, Scorer scorer);

  ScanDevice& device_;
  const ScanTuning tuning_;
  Pinned sent_block_;
  device::Buffer sent_;
  // A header with the count, then the matches; their first ones come back with the count.
  device::Buffer output_;
  Pinned output_block_;
  device::Buffer bins_;
  Pinned bins_block_;
  device::Buffer carries_;
  uint64_t capacity_ = 0;
  uint64_t bin_bytes_ = 0;
  uint64_t found_ = 0;
  device::Stream stream_;  // the first to go: its work uses the rest
};

}  // namespace hoist::match
