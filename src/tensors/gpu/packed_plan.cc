#include "tensors/gpu/packed_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

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
};

}  // namespace

class PackedPlan::Planner {
 public:
  // `ring_bytes`: no part lies across a multiple of it.
  Planner(const HoloIndex& index, const std::vector<uint64_t>& offsets, const StepParts& steps,
          uint64_t ring_bytes)
      : layout_(index.layout),
        offsets_(offsets),
        steps_(steps),
        ring_bytes_(ring_bytes),
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

  PackedPlan make(const PackedPlanOptions& options) {
    for (const WantedPart& part : wanted_parts()) place(part);
    plan_.arena_bytes_ = align(next_ + kMargin);
    plan_.ring_bytes_ = std::min(ring_bytes_, plan_.arena_bytes_);
    std::sort(plan_.shards_.begin(), plan_.shards_.end(),
              [](const PackedShard& a, const PackedShard& b) { return a.arena < b.arena; });
    cut(options.region_bytes);
    announce();
    set_free();
    return std::move(plan_);
  }

  // The largest that was placed in one piece.
  uint64_t largest_piece() const { return largest_piece_; }

 private:
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  // Step by step, then tensor by tensor. Those that share groups with others come first: there is
  // little of them, but their neighbours in a group may be anywhere in the file.
  std::vector<WantedPart> wanted_parts() const {
    std::vector<WantedPart> wanted;
    std::vector<bool> shares(steps_.size());
    for (size_t tensor = 0; tensor < steps_.size(); ++tensor) {
      size_t part = 0;
      for (size_t step = 0; step < steps_[tensor].size(); ++step) {
        for (; part < steps_[tensor][step]; ++part) {
          const std::vector<StreamPiece>& pieces =
              layout_.pieces(layout_.part_stream(tensor, part));
          wanted.push_back({tensor, part, step, &pieces});
          if (!is_alone(pieces)) shares[tensor] = true;
        }
      }
    }
    std::stable_sort(wanted.begin(), wanted.end(), [&](const WantedPart& a, const WantedPart& b) {
      return std::tuple(a.step, !shares[a.tensor], a.tensor) <
             std::tuple(b.step, !shares[b.tensor], b.tensor);
    });
    return wanted;
  }

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
      at = room_for(pieces.back().stream_offset + pieces.back().bytes);
      for (const StreamPiece& piece : pieces)
        put(piece.shard, at + piece.stream_offset, wanted.step);
      return;
    }
    // Its group keeps its shape, so that neighbours' bytes stay where they are to one another.
    const uint32_t number = layout_.shards()[pieces.front().shard].group;
    const ShardGroup& group = layout_.groups()[number];
    if (group_at_[number] == kNowhere) {
      const uint64_t bytes = group.data.size() * group.shard_bytes;
      group_at_[number] = room_for(bytes);
      next_ = group_at_[number] + bytes;
    }
    const auto in_group = [&](uint64_t shard) {
      return group_at_[number] + (shard - group.data.front()) * group.shard_bytes;
    };
    at = in_group(pieces.front().shard) + pieces.front().shard_offset;
    for (const StreamPiece& piece : pieces) {
      put(piece.shard, in_group(piece.shard), wanted.step);
    }
  }

  // Where so many bytes, and the margin behind them, lie in one piece.
  uint64_t room_for(uint64_t bytes) {
    largest_piece_ = std::max(largest_piece_, bytes + 2 * kMargin);
    const uint64_t at = align(next_ + kMargin);
    const uint64_t turn = at / ring_bytes_;
    return (at + bytes + kMargin - 1) / ring_bytes_ == turn ? at : (turn + 1) * ring_bytes_;
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
        // Where one region completes two steps, only the later one is worth decoding.
        if (last && last->first != region)
          plan_.regions_[last->first].ready.push_back(last->second);
        last = {region, {tensor, step, part}};
      }
      if (last) plan_.regions_[last->first].ready.push_back(last->second);
    }
  }

  // Where a tensor's parts begin, in the arena.
  uint64_t begin_of(size_t tensor) const {
    uint64_t begin = kNowhere;
    for (size_t part = 0; part < plan_.parts_[tensor].size(); ++part) {
      for (const StreamPiece& piece : layout_.pieces(layout_.part_stream(tensor, part))) {
        begin = std::min(begin, arena_of_shard_[piece.shard]);
      }
    }
    return begin;
  }

  // Behind a region is wanted: what tensors begin with that are decoded again, or later.
  void set_free() {
    std::vector<size_t> last_region(steps_.size(), 0);
    for (size_t region = 0; region < plan_.regions_.size(); ++region) {
      for (const ReadyTensor& ready : plan_.regions_[region].ready) {
        last_region[ready.tensor] = region;
      }
    }
    std::vector<uint64_t> wanted_from(plan_.regions_.size() + 1, kNowhere);
    for (size_t tensor = 0; tensor < steps_.size(); ++tensor) {
      if (steps_[tensor].empty()) continue;
      uint64_t& from = wanted_from[last_region[tensor]];
      from = std::min(from, begin_of(tensor));
    }
    uint64_t wanted = plan_.arena_bytes_;
    for (size_t region = plan_.regions_.size(); region-- > 0;) {
      wanted = std::min(wanted, wanted_from[region + 1]);
      plan_.regions_[region].free_before = std::min(plan_.regions_[region].end, wanted);
    }
  }

  const Layout& layout_;
  const std::vector<uint64_t>& offsets_;
  const StepParts& steps_;
  const uint64_t ring_bytes_;
  uint64_t largest_piece_ = 0;
  std::vector<uint64_t> arena_of_shard_;
  std::vector<size_t> step_of_shard_;
  std::vector<uint32_t> streams_of_shard_;
  std::vector<uint64_t> group_at_;
  uint64_t next_ = 0;
  PackedPlan plan_;
};

namespace {

// The least ring in which no chunk waits for what comes behind it: when a chunk of a region begins,
// what was before the region has been copied or is being copied, and will be decoded.
uint64_t least_ring(const PackedPlan& plan, uint64_t chunk_bytes) {
  uint64_t least = 0;
  uint64_t free = 0;
  for (const PackedRegion& region : plan.regions()) {
    least = std::max(least, region.end + chunk_bytes - free);
    free = region.free_before;
  }
  return least;
}

}  // namespace

Result<PackedPlan> PackedPlan::make(const HoloIndex& index, const std::vector<uint64_t>& offsets,
                                    const StepParts& steps, const PackedPlanOptions& options) {
  if (offsets.size() < index.layout.shards().size()) {
    return fail(ErrorCode::corrupt, fmt::format("a file of {} shards, whose tensors need {}",
                                                offsets.size(), index.layout.shards().size()));
  }
  constexpr uint64_t kNoRing = uint64_t{1} << 62;  // bytes
  Planner planner(index, offsets, steps, kNoRing);
  PackedPlan whole = planner.make(options);
  const uint64_t least = least_ring(whole, options.chunk_bytes);
  if (options.ahead_bytes >= whole.arena_bytes_ || least >= whole.arena_bytes_) return whole;
  // At its end the ring may have as much room left as is placed in one piece.
  const uint64_t ring = align(least + options.ahead_bytes + 2 * planner.largest_piece());
  if (ring >= whole.arena_bytes_) return whole;
  PackedPlan turning = Planner(index, offsets, steps, ring).make(options);
  return least_ring(turning, options.chunk_bytes) <= ring ? turning : whole;
}

}  // namespace hoist::tensors
