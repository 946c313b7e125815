#include "match/gpu/device_segment.h"

#include <algorithm>

#include "match/gpu/scan_workspace.h"

namespace hoist::match {
namespace {

uint64_t symbol_count(const SegmentView& segment) {
  return segment.symbols16.size() + segment.symbols32.size();
}

// Deals runs to parts in order; a run of tiles may be cut between two tiles.
class Dealer {
 public:
  Dealer(uint64_t symbols, size_t parts)
      : share_(std::max<uint64_t>(1, (symbols + parts - 1) / parts)), most_parts_(parts) {
    parts_.push_back({0, 0, {}});
  }

  void add_tiles(const LengthBucket& bucket) {
    const uint64_t tile_symbols = uint64_t{bucket.length} * kTileWidth;
    for (uint32_t tile = 0; tile < bucket.tiles();) {
      uint32_t taken = bucket.tiles() - tile;
      if (tile_symbols != 0 && parts_.size() < most_parts_) {
        const uint64_t room =
            share_ > used(bucket.tile_at(tile)) ? share_ - used(bucket.tile_at(tile)) : 0;
        taken = static_cast<uint32_t>(std::min<uint64_t>(taken, room / tile_symbols));
      }
      if (taken == 0) {
        begin_part(bucket.tile_at(tile));
        // A tile larger than a part's share has a part of its own.
        taken = 1;
      }
      const uint32_t first = tile * kTileWidth;
      add(bucket, bucket.tile_at(tile), first,
          static_cast<uint32_t>(
              std::min<uint64_t>(uint64_t{taken} * kTileWidth, bucket.tiled() - first)),
          true);
      tile += taken;
    }
  }

  void add_singles(const LengthBucket& bucket) {
    const uint32_t first = bucket.tiled();
    if (first != bucket.count) {
      add(bucket, bucket.pattern_at(first), first, bucket.count - first, false);
    }
  }

  std::vector<DealtRuns> take(uint64_t symbols) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const uint64_t end = i + 1 < parts_.size() ? parts_[i + 1].first_symbol : symbols;
      parts_[i].symbols = end - parts_[i].first_symbol;
    }
    return std::move(parts_);
  }

 private:
  uint64_t used(uint64_t at) const { return at - parts_.back().first_symbol; }
  void begin_part(uint64_t at) {
    if (parts_.size() < most_parts_ && !parts_.back().runs.empty()) parts_.push_back({at, 0, {}});
  }
  void add(const LengthBucket& bucket, uint64_t at, uint32_t position, uint32_t count,
           bool is_tiled) {
    DealtRuns& part = parts_.back();
    part.runs.push_back({at - part.first_symbol,
                         static_cast<uint32_t>(bucket.first_pattern + position), count,
                         bucket.length, is_tiled ? 1u : 0u, 0});
  }

  uint64_t share_;
  size_t most_parts_;
  std::vector<DealtRuns> parts_;
};

}  // namespace

std::vector<DealtRuns> deal_runs(const SegmentView& segment, size_t parts) {
  Dealer dealer(symbol_count(segment), parts);
  for (const LengthBucket& bucket : segment.buckets) {
    dealer.add_tiles(bucket);
    dealer.add_singles(bucket);
  }
  return dealer.take(symbol_count(segment));
}

ScanDevice::ScanDevice(device::Device& device) : device(device), pool(device), transfer(pool) {}
ScanDevice::~ScanDevice() = default;

Result<std::unique_ptr<DeviceSegment>> DeviceSegment::upload(
    const SegmentView& segment, std::span<const std::shared_ptr<ScanDevice>> devices,
    uint64_t split_bytes) {
  std::unique_ptr<DeviceSegment> uploaded(new DeviceSegment);
  uploaded->is_wide_ = !segment.symbols32.empty();
  const std::span<const std::byte> bytes =
      uploaded->is_wide_ ? std::as_bytes(segment.symbols32) : std::as_bytes(segment.symbols16);
  const size_t symbol_bytes = uploaded->is_wide_ ? sizeof(uint32_t) : sizeof(uint16_t);
  std::vector<std::shared_ptr<ScanDevice>> takers(devices.begin(), devices.end());
  std::stable_sort(takers.begin(), takers.end(),
                   [](const auto& x, const auto& y) { return x->held < y->held; });
  auto dealt = deal_runs(segment, bytes.size() >= split_bytes ? takers.size() : 1);
  for (size_t i = 0; i < dealt.size(); ++i) {
    ScanDevice& device = *takers[i];
    const auto part =
        bytes.subspan(dealt[i].first_symbol * symbol_bytes, dealt[i].symbols * symbol_bytes);
    auto buffer = device::Buffer::allocate(device.device, std::max<size_t>(part.size(), 1));
    if (!buffer) return buffer.error();
    if (!part.empty()) {
      const auto to = buffer->view().subspan(0, part.size());
      if (Status sent = device.transfer.upload(part, to, {.device_computes = true}); !sent) {
        return sent.error();
      }
    }
    device.held += buffer->size();
    uploaded->parts_.push_back({takers[i], std::move(*buffer), std::move(dealt[i].runs)});
  }
  return uploaded;
}

DeviceSegment::~DeviceSegment() {
  for (const SegmentPart& part : parts_) part.device->held -= part.symbols.size();
}

}  // namespace hoist::match
