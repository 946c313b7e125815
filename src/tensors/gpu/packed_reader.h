// A plan's arena as a source for Transfer: any part of it, read from the file where its shards are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "container/source.h"
#include "device/host_end.h"
#include "tensors/file/reader.h"
#include "tensors/gpu/packed_plan.h"

namespace hoist::tensors {

inline constexpr uint64_t kMissingShard = std::numeric_limits<uint64_t>::max();

// The offset of each shard's bytes in the file; kMissingShard where the file has no such block.
inline std::vector<uint64_t> shard_offsets(const HoloTensorReader& file) {
  std::vector<uint64_t> offsets;
  for (const ShardPlace& shard : file.layout().shards()) {
    const container::Block* const block = file.container().find(offsets.size());
    const bool there = block != nullptr && block->stored_size == shard.bytes;
    offsets.push_back(there ? block->payload_offset() : kMissingShard);
  }
  return offsets;
}

// The plan and the file must outlive it.
class PackedReader final : public device::HostReader {
 public:
  PackedReader(const PackedPlan& plan, const container::Source& file) : plan_(plan), file_(file) {}

  // Bytes between shards are left as they are.
  Status read(uint64_t at, std::span<std::byte> into) override {
    const std::vector<PackedShard>& shards = plan_.shards();
    auto shard = std::upper_bound(
        shards.begin(), shards.end(), at,
        [](uint64_t offset, const PackedShard& s) { return offset < s.arena + s.bytes; });
    for (; shard != shards.end() && shard->arena < at + into.size(); ++shard) {
      const uint64_t begin = std::max(at, shard->arena);
      const uint64_t end = std::min(at + into.size(), shard->arena + shard->bytes);
      if (begin >= end) continue;
      Status done = file_.read(shard->file_offset + (begin - shard->arena),
                               into.subspan(begin - at, end - begin));
      if (!done) return done;
    }
    return {};
  }

 private:
  const PackedPlan& plan_;
  const container::Source& file_;
};

}  // namespace hoist::tensors
