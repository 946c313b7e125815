#include "tensors/file/layout.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::tensors {
namespace {

constexpr uint64_t kUnit = 64;  // GPUs and vector units read so much at once
constexpr uint64_t kPage = 4096;
constexpr uint64_t kLarge = (uint64_t{1} << 20) - kUnit;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
uint64_t divide_up(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

}  // namespace

class Layout::Planner {
 public:
  Planner(const HoloTensorHeader& header, uint64_t most_shards, Layout& layout)
      : header_(header), most_shards_(most_shards), layout_(layout) {}

  // False where there are too many shards.
  bool run();

 private:
  // What the group to come holds.
  struct Segment {
    size_t stream;
    uint64_t stream_offset;
    uint64_t offset;  // in the group
    uint64_t bytes;
  };

  void number_streams();
  void place_part(size_t tensor, size_t part);
  void place_stream(size_t stream, uint64_t bytes);
  void place_large(size_t stream, uint64_t bytes);
  void place_equal(size_t tensor, size_t part);
  void flush();
  void add_parity();
  uint64_t add_shard(uint64_t bytes, uint32_t group, uint64_t shard_bytes, bool is_parity);

  // Every loop over groups ends with it.
  bool is_full() const {
    return layout_.shards_.size() > most_shards_ || layout_.groups_.size() > most_shards_;
  }

  const HoloTensorHeader& header_;
  uint64_t most_shards_;
  Layout& layout_;
  std::vector<Segment> pending_;
  uint64_t pending_bytes_ = 0;
  std::vector<size_t> equal_group_;  // first group of each any-subset tensor
};

void Layout::Planner::number_streams() {
  size_t streams = 0;
  for (const HoloTensor& tensor : header_.tensors) {
    layout_.first_stream_.push_back(streams);
    streams += tensor.parts.size();
  }
  layout_.first_skeleton_ = streams;
  layout_.pieces_.resize(streams + header_.files.size());
  equal_group_.resize(header_.tensors.size());
}

uint64_t Layout::Planner::add_shard(uint64_t bytes, uint32_t group, uint64_t shard_bytes,
                                    bool is_parity) {
  const uint8_t alignment = shard_bytes >= kLarge ? 12 : 6;
  layout_.shards_.push_back({bytes, group, alignment, is_parity});
  return layout_.shards_.size() - 1;
}

// Cuts what is pending into the shards of a group.
void Layout::Planner::flush() {
  if (pending_bytes_ == 0) return;
  const uint64_t share = divide_up(pending_bytes_, header_.fragments);
  const uint64_t shard_bytes = share >= kLarge
                                   ? round_up(share + kUnit, kPage) - kUnit
                                   : std::max(header_.rules.min_shard, round_up(share, kUnit));
  const auto number = static_cast<uint32_t>(layout_.groups_.size());
  ShardGroup group;
  group.shard_bytes = shard_bytes;
  for (uint64_t begin = 0; begin < pending_bytes_; begin += shard_bytes) {
    const uint64_t bytes = std::min(shard_bytes, pending_bytes_ - begin);
    group.data.push_back(add_shard(bytes, number, shard_bytes, false));
  }
  for (const Segment& segment : pending_) {
    for (uint64_t done = 0; done < segment.bytes;) {
      const uint64_t at = segment.offset + done;
      const uint64_t bytes = std::min(segment.bytes - done, shard_bytes - at % shard_bytes);
      layout_.pieces_[segment.stream].push_back(
          {group.data[at / shard_bytes], at % shard_bytes, segment.stream_offset + done, bytes});
      done += bytes;
    }
  }
  layout_.groups_.push_back(std::move(group));
  pending_.clear();
  pending_bytes_ = 0;
}

void Layout::Planner::place_large(size_t stream, uint64_t bytes) {
  const uint64_t groups = divide_up(bytes, header_.fragments * header_.rules.max_shard);
  const uint64_t step = round_up(divide_up(bytes, groups), kUnit);
  for (uint64_t begin = 0; begin < bytes && !is_full(); begin += step) {
    flush();
    pending_bytes_ = std::min(step, bytes - begin);
    pending_.push_back({stream, begin, 0, pending_bytes_});
  }
  flush();
}

void Layout::Planner::place_stream(size_t stream, uint64_t bytes) {
  if (bytes == 0) return;
  if (bytes >= header_.rules.bundle) return place_large(stream, bytes);
  uint64_t offset = round_up(pending_bytes_, kUnit);
  if (offset + bytes > header_.rules.bundle) {
    flush();
    offset = 0;
  }
  pending_.push_back({stream, 0, offset, bytes});
  pending_bytes_ = offset + bytes;
}

// Part i of an any-subset encoding is shard i of its groups, one group for each max_shard bytes.
void Layout::Planner::place_equal(size_t tensor, size_t part) {
  flush();
  const std::vector<StoredStream>& parts = header_.tensors[tensor].parts;
  const uint64_t step = header_.rules.max_shard;
  if (part == 0) {
    uint64_t largest = 0;
    for (const StoredStream& one : parts) largest = std::max(largest, one.bytes);
    equal_group_[tensor] = layout_.groups_.size();
    for (uint64_t begin = 0; begin < largest && !is_full(); begin += step) {
      layout_.groups_.push_back({{}, {}, std::min(step, largest - begin)});
    }
  }
  size_t group = equal_group_[tensor];
  const size_t stream = layout_.part_stream(tensor, part);
  for (uint64_t begin = 0; begin < parts[part].bytes && !is_full(); begin += step, ++group) {
    const uint64_t bytes = std::min(step, parts[part].bytes - begin);
    const uint64_t shard =
        add_shard(bytes, static_cast<uint32_t>(group), layout_.groups_[group].shard_bytes, false);
    layout_.groups_[group].data.push_back(shard);
    layout_.pieces_[stream].push_back({shard, 0, begin, bytes});
  }
}

void Layout::Planner::place_part(size_t tensor, size_t part) {
  const HoloTensor& placed = header_.tensors[tensor];
  if (part >= placed.parts.size()) return;
  if (is_any_subset(placed.description.encoding)) return place_equal(tensor, part);
  place_stream(layout_.part_stream(tensor, part), placed.parts[part].bytes);
}

void Layout::Planner::add_parity() {
  for (size_t number = 0; number < layout_.groups_.size() && !is_full(); ++number) {
    ShardGroup& group = layout_.groups_[number];
    for (uint32_t i = 0; i < header_.parity; ++i) {
      group.parity.push_back(
          add_shard(group.shard_bytes, static_cast<uint32_t>(number), group.shard_bytes, true));
    }
  }
}

bool Layout::Planner::run() {
  number_streams();
  size_t layers = 0;
  for (const HoloTensor& tensor : header_.tensors) layers = std::max(layers, tensor.parts.size());
  if (header_.order == FileOrder::layer) {
    for (size_t layer = 0; layer < layers; ++layer) {
      for (size_t i = 0; i < header_.tensors.size(); ++i) place_part(i, layer);
      flush();
    }
  } else {
    for (size_t i = 0; i < header_.tensors.size(); ++i) {
      for (size_t part = 0; part < header_.tensors[i].parts.size(); ++part) place_part(i, part);
    }
    flush();
  }
  for (size_t i = 0; i < header_.files.size(); ++i) {
    place_stream(layout_.skeleton_stream(i), header_.files[i].skeleton.bytes);
  }
  flush();
  add_parity();
  return !is_full();
}

Result<Layout> Layout::of(const HoloTensorHeader& header, uint64_t most_shards) {
  Layout layout;
  if (Planner(header, most_shards, layout).run()) return layout;
  return fail(ErrorCode::corrupt,
              fmt::format("the parts of the tensors make more shards than the {} that there are",
                          most_shards));
}

}  // namespace hoist::tensors
