#include "tensors/gpu/packed_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace hoist::tensors {
namespace {

constexpr size_t kNoStep = std::numeric_limits<size_t>::max();

uint64_t align(uint64_t at) {
  return (at + PackedPlan::kAlignment - 1) / PackedPlan::kAlignment * PackedPlan::kAlignment;
}

// A part that is wanted, and the first step that wants it.
struct WantedPart {
  size_t tensor;
  size_t part;
  size_t step;
  const std::vector<StreamPiece>* pieces;

  uint64_t first_shard() const { return pieces->empty() ? 0 : pieces->front().shard; }
};

std::vector<WantedPart> wanted_parts(const Layout& layout, const StepParts& steps) {
  std::vector<WantedPart> wanted;
  for (size_t tensor = 0; tensor < steps.size(); ++tensor) {
    size_t part = 0;
    for (size_t step = 0; step < steps[tensor].size(); ++step) {
      for (; part < steps[tensor][step]; ++part) {
        wanted.push_back({tensor, part, step, &layout.pieces(layout.part_stream(tensor, part))});
      }
    }
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const WantedPart& a, const WantedPart& b) {
    return std::pair(a.step, a.first_shard()) < std::pair(b.step, b.first_shard());
  });
  return wanted;
}

}  // namespace

class PackedPlan::Planner {
 public:
  Planner(const HoloIndex& index, const std::vector<uint64_t>& offsets, const StepParts& steps)
      : layout_(index.layout),
        offsets_(offsets),
        steps_(steps),
        arena_of_shard_(layout_.shards().size(), kNowhere),
        step_of_shard_(layout_.shards().size(), kNoStep),
        streams_of_shard_(layout_.shards().size()),
        group_at_(layout_.groups().size(), kNowhere) {
    plan_.parts_.resize(steps.size());
    for (size_t tensor = 0; tensor < steps.size(); ++tensor) {
      plan_.parts_[tensor].resize(steps[tensor].empty() ? 0 : steps[tensor].back());
    }
    for (size_t stream = 0; stream < layout_.streams(); ++stream) {
      for (const StreamPiece& piece : layout_.pieces(stream)) ++streams_of_shard_[piece.shard];
    }
  }

  PackedPlan make(uint64_t region_bytes) {
    const std::vector<WantedPart> wanted = wanted_parts(layout_, steps_);
    for (const WantedPart& part : wanted) place(part);
    plan_.arena_bytes_ = align(next_ + kMargin);
    std::sort(plan_.shards_.begin(), plan_.shards_.end(),
              [](const PackedShard& a, const PackedShard& b) { return a.arena < b.arena; });
    cut(region_bytes);
    announce();
    return std::move(plan_);
  }

 private:
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  // Whether the stream has its shards for itself, all of each.
  bool is_alone(const std::vector<StreamPiece>& pieces) const {
    return std::all_of(pieces.begin(), pieces.end(), [&](const StreamPiece& piece) {
      return streams_of_shard_[piece.shard] == 1 && piece.shard_offset == 0 &&
             piece.bytes == layout_.shards()[piece.shard].bytes;
    });
  }

  void place(const WantedPart& wanted) {
    const std::vector<StreamPiece>& pieces = *wanted.pieces;
    uint64_t& at = plan_.parts_[wanted.tensor][wanted.part];
    if (pieces.empty()) {
      at = 0;
      return;
    }
    if (is_alone(pieces)) {
      at = align(next_ + kMargin);
      for (const StreamPiece& piece : pieces)
        put(piece.shard, at + piece.stream_offset, wanted.step);
      return;
    }
    // Its group keeps its shape, so that neighbours' bytes stay where they are to one another.
    const uint32_t number = layout_.shards()[pieces.front().shard].group;
    const ShardGroup& group = layout_.groups()[number];
    if (group_at_[number] == kNowhere) {
      group_at_[number] = align(next_ + kMargin);
      next_ = group_at_[number] + group.data.size() * group.shard_bytes;
    }
    const auto in_group = [&](uint64_t shard) {
      return group_at_[number] + (shard - group.data.front()) * group.shard_bytes;
    };
    at = in_group(pieces.front().shard) + pieces.front().shard_offset;
    for (const StreamPiece& piece : pieces) {
      put(piece.shard, in_group(piece.shard), wanted.step);
    }
  }

  void put(uint64_t shard, uint64_t arena, size_t step) {
    if (arena_of_shard_[shard] != kNowhere) return;
    arena_of_shard_[shard] = arena;
    step_of_shard_[shard] = step;
    const uint64_t bytes = layout_.shards()[shard].bytes;
    plan_.shards_.push_back({shard, offsets_[shard], arena, bytes});
    next_ = std::max(next_, arena + bytes);
  }

  void cut(uint64_t region_bytes) {
    size_t step = kNoStep;
    for (size_t i = 0; i < plan_.shards_.size(); ++i) {
      const PackedShard& shard = plan_.shards_[i];
      std::vector<PackedRegion>& regions = plan_.regions_;
      if (regions.empty() || step_of_shard_[shard.shard] != step ||
          shard.arena + shard.bytes - regions.back().begin > region_bytes) {
        // Regions cover the arena without gaps.
        const uint64_t begin = regions.empty() ? 0 : shard.arena;
        if (!regions.empty()) regions.back().end = begin;
        regions.push_back({begin, plan_.arena_bytes_, i, 0, {}});
        step = step_of_shard_[shard.shard];
      }
      ++regions.back().shards;
    }
  }

  // The region in which the last needed byte arrives.
  size_t region_of(uint64_t end) const {
    const auto after =
        std::upper_bound(plan_.regions_.begin(), plan_.regions_.end(), end == 0 ? 0 : end - 1,
                         [](uint64_t at, const PackedRegion& region) { return at < region.begin; });
    return static_cast<size_t>(after - plan_.regions_.begin()) - 1;
  }

  void announce() {
    if (plan_.regions_.empty()) return;
    for (size_t tensor = 0; tensor < steps_.size(); ++tensor) {
      uint64_t end = 0;
      size_t part = 0;
      std::optional<std::pair<size_t, ReadyTensor>> last;
      for (size_t step = 0; step < steps_[tensor].size(); ++step) {
        if (steps_[tensor][step] == part) continue;
        for (; part < steps_[tensor][step]; ++part) {
          for (const StreamPiece& piece : layout_.pieces(layout_.part_stream(tensor, part))) {
            end = std::max(end, arena_of_shard_[piece.shard] + piece.shard_offset + piece.bytes);
          }
        }
        const size_t region = region_of(end);
        // Of two steps that one region completes only the later one is worth decoding.
        if (last && last->first != region)
          plan_.regions_[last->first].ready.push_back(last->second);
        last = {region, {tensor, step, part}};
      }
      if (last) plan_.regions_[last->first].ready.push_back(last->second);
    }
  }

  const Layout& layout_;
  const std::vector<uint64_t>& offsets_;
  const StepParts& steps_;
  std::vector<uint64_t> arena_of_shard_;
  std::vector<size_t> step_of_shard_;
  std::vector<uint32_t> streams_of_shard_;
  std::vector<uint64_t> group_at_;
  uint64_t next_ = 0;
  PackedPlan plan_;
};

Result<PackedPlan> PackedPlan::make(const HoloIndex& index, const std::vector<uint64_t>& offsets,
                                    const StepParts& steps, uint64_t region_bytes) {
  if (offsets.size() < index.layout.shards().size()) {
    return fail(ErrorCode::corrupt, fmt::format("a file of {} shards, whose tensors need {}",
                                                offsets.size(), index.layout.shards().size()));
  }
  return Planner(index, offsets, steps).make(region_bytes);
}

}  // namespace hoist::tensors
