// How a tensor file uses its container: what writer, reader and repair must agree on.
#pragma once

#include <string>
#include <vector>

#include "container/reader.h"
#include "container/writer.h"
#include "tensors/file/layout.h"

namespace hoist::tensors {

// BlockInfo::kind
enum HoloBlockKind : uint32_t {
  kDataShard = 0,
  kParityShard = 1,
  // The metadata once more, behind the shards, as often as there are parity shards: as many blocks
  // may be lost, whichever they are.
  kMetadataCopy = 2,
};

inline container::BlockInfo shard_block(uint64_t number, const ShardPlace& shard) {
  return {.id = number,
          .raw_size = shard.bytes,
          .stored_size = shard.bytes,
          .kind = shard.is_parity ? kParityShard : kDataShard,
          .alignment_log2 = shard.alignment_log2};
}

inline container::BlockInfo metadata_copy_block(uint64_t number, uint64_t bytes) {
  return {.id = number,
          .raw_size = bytes,
          .stored_size = bytes,
          .kind = kMetadataCopy,
          .alignment_log2 = 6};
}

inline container::WriterOptions holo_writer_options(const std::string& metadata,
                                                    std::vector<container::BlockInfo> plan) {
  container::WriterOptions options;
  options.kind = kHoloKind;
  options.metadata = metadata;
  options.plan = std::move(plan);
  return options;
}

// Limits for a file of that size: its own size is limit enough for its parts.
inline container::Limits holo_limits(uint64_t file_size) {
  container::Limits limits;
  limits.metadata = std::min<uint64_t>(file_size, uint64_t{1} << 30);
  limits.index = std::max(limits.index, file_size);
  limits.block = std::max(limits.block, file_size);
  return limits;
}

}  // namespace hoist::tensors
