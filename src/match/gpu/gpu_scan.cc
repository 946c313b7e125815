#include "match/gpu/gpu_scan.h"

#include <algorithm>

#include "base/log.h"
#include "match/gpu/device_blocks.h"
#include "match/gpu/device_search.h"
#include "match/scan/segment_query.h"

namespace hoist::match {
namespace {

using Queries = std::span<const std::span<const uint32_t>>;

bool is_for_devices(std::span<const uint32_t> query) {
  return !query.empty() && query.size() <= kMaxPatternLength;
}

}  // namespace

GpuScan::GpuScan(std::span<device::Device* const> devices, const ScanTuning& tuning)
    : tuning_(tuning) {
  for (device::Device* device : devices) devices_.push_back(std::make_shared<ScanDevice>(*device));
}

void GpuScan::report(ScanDevice& device, const Error& error) {
  if (device.is_reported.exchange(true)) return;
  log(LogLevel::warn, "match: searches go to the CPU ({}: {})", device.device.properties().id(),
      error.message);
}

std::shared_ptr<DeviceSegment> GpuScan::find(const Owner& owner, const SegmentView& segment) {
  if (devices_.empty() || segment.pattern_count() == 0) return nullptr;
  uint64_t freed = 0;
  {
    const std::lock_guard lock(mutex_);
    bool is_freed = false;
    std::erase_if(held_, [&](const auto& entry) {
      const bool is_gone = entry.second.owner.expired();
      is_freed = is_freed || (is_gone && entry.second.segment != nullptr);
      return is_gone;
    });
    freed = freed_ += is_freed ? 1 : 0;
    const auto [entry, is_new] = held_.try_emplace(owner.get(), Held{owner, nullptr, {}});
    Held& held = entry->second;
    if (!is_new && (!held.lacked_at || *held.lacked_at == freed)) return held.segment;
    held.lacked_at.reset();
  }
  auto uploaded = DeviceSegment::upload(segment, devices_, tuning_.split_bytes);
  if (!uploaded) {
    report(*devices_.front(), uploaded.error());
    if (uploaded.error().code != ErrorCode::exhausted) return nullptr;
    // Counted from before: what was freed meanwhile may have come too late.
    const std::lock_guard lock(mutex_);
    held_.at(owner.get()).lacked_at = freed;
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  return held_.at(owner.get()).segment = std::move(*uploaded);
}

bool GpuScan::hold(const Owner& owner, const SegmentView& segment) {
  return find(owner, segment) != nullptr;
}

void GpuScan::expect_memory() {
  const std::lock_guard lock(mutex_);
  ++freed_;
}

Result<std::vector<std::vector<Match>>> GpuScan::search(const Owner& owner,
                                                        const SegmentView& segment, Queries queries,
                                                        const SearchOptions& options,
                                                        ThreadPool& pool) {
  const std::shared_ptr<DeviceSegment> on_devices =
      std::all_of(queries.begin(), queries.end(), is_for_devices) ? find(owner, segment) : nullptr;
  if (on_devices == nullptr) {
    ++on_cpu_;
    return match::search(segment, queries, options, pool);
  }
  DeviceSearch search(segment, *on_devices, options, tuning_, pool);
  auto found = search.run(queries);
  if (found || (search.failed_device() == nullptr && !search.gave_up())) {
    ++on_devices_;
    return found;
  }
  if (search.failed_device() != nullptr) report(*search.failed_device(), found.error());
  ++on_cpu_;
  return match::search(segment, queries, options, pool);
}

bool GpuScan::summarize_blocks(const Owner& owner, const SegmentView& segment,
                               std::span<const uint32_t> state, std::span<const uint32_t> patterns,
                               const std::stop_token& stop, std::span<BlockSummary> summaries) {
  if (!is_for_devices(state)) return false;
  const std::shared_ptr<DeviceSegment> on_devices = find(owner, segment);
  if (on_devices == nullptr) return false;
  DeviceBlocks blocks(*on_devices);
  const Status done = blocks.run(dense_ids(segment, state), patterns, stop, summaries);
  if (blocks.failed_device() != nullptr && !has_reported_blocks_.exchange(true)) {
    log(LogLevel::warn, "match: the CPU finds blocks ({}: {})",
        blocks.failed_device()->device.properties().id(), done.error().message);
  }
  if (!done) return false;
  summarized_ += static_cast<uint64_t>(
      std::count_if(summaries.begin(), summaries.end(),
                    [](const BlockSummary& summary) { return summary.is_known != 0; }));
  return true;
}

GpuScan::Statistics GpuScan::statistics() const { return {on_devices_, on_cpu_, summarized_}; }

std::vector<DeviceBytes> GpuScan::held() const {
  std::vector<DeviceBytes> held;
  for (const auto& device : devices_) {
    held.push_back({device->device.properties().id(), device->held});
  }
  return held;
}

std::string GpuScan::names() const {
  std::string names;
  for (const auto& device : devices_) {
    names += (names.empty() ? "" : ", ") + device->device.properties().id();
  }
  return names;
}

}  // namespace hoist::match
