// The blocks of many patterns of a segment that lies on devices with one state, in summary: one
// warp of a GPU a pattern. What takes too long there is left to the caller.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "match/gpu/device_segment.h"
#include "match/score/block_summary.h"

namespace hoist::match {

class DeviceBlocks {
 public:
  // It must outlive this.
  explicit DeviceBlocks(const DeviceSegment& on_devices) : on_devices_(on_devices) {}

  // `state` in the segment's ids, kAbsentId where it has none; at most kMaxPatternLength of them.
  // `patterns` are indices in the segment. `summaries` are as many, in their order. `cancelled`,
  // or why a device did not answer.
  Status run(std::span<const uint32_t> state, std::span<const uint32_t> patterns,
             const std::stop_token& stop, std::span<BlockSummary> summaries);

  // Why the answer is an error: a device, and nothing else, stood in the way.
  ScanDevice* failed_device() const { return failed_; }

 private:
  struct PartWork;

  std::vector<PartWork> deal(std::span<const uint32_t> patterns,
                             std::span<BlockSummary> summaries) const;
  Status begin(std::span<const uint32_t> state, PartWork& work) const;
  size_t patterns_of_launch(size_t state_length) const;
  Status failed(const PartWork& work, const Status& status);

  const DeviceSegment& on_devices_;
  ScanDevice* failed_ = nullptr;
};

}  // namespace hoist::match
