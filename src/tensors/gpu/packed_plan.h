// Which shards of a .holo file go to a device, in which order, and where they lie there: in one
// arena, without the headers between them, so that each part of a tensor is in one piece.
//
// Shards come step by step: first those of the parts that all tensors need for the first step, then
// those for the second; in a step tensor after tensor, those first that share shards. The arena is
// cut into regions; when a region has arrived, some tensors can be decoded up to a step.
//
// What was decoded for the last time is not wanted any more, so the arena need not be in memory all
// at once: its byte at `a` is that at `a % ring_bytes()` of a ring. No part lies across the ring's
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "tensors/file/fetcher.h"

namespace hoist::tensors {

struct PackedShard {
  uint64_t shard = 0;
  uint64_t file_offset = 0;
  uint64_t arena = 0;
  uint64_t bytes = 0;
};

// A tensor whose first `parts` parts are there; the last of them has just arrived.
struct ReadyTensor {
  size_t tensor = 0;
  size_t step = 0;
  size_t parts = 0;
};

struct PackedRegion {
  uint64_t begin = 0;  // in the arena
  uint64_t end = 0;
  size_t first_shard = 0;  // of PackedPlan::shards()
  size_t shards = 0;
  std::vector<ReadyTensor> ready;
  uint64_t free_before = 0;  // once it is decoded nobody wants the arena's bytes before this
};

struct PackedPlanOptions {
  uint64_t region_bytes = uint64_t{64} << 20;  // about; regions are smaller where a step ends
  uint64_t chunk_bytes = uint64_t{4} << 20;    // that are copied at once, at most
  // How far the copies may be ahead of what decoding leaves free; unlimited: no ring.
  uint64_t ahead_bytes = std::numeric_limits<uint64_t>::max();
};

// For each tensor how many parts it has after each step, which never falls; of a tensor that is to
// be left out, none.
using StepParts = std::vector<std::vector<size_t>>;

class PackedPlan {
 public:
  // Parts begin at multiples of this.
  static constexpr uint64_t kAlignment = 64;
  // Bytes that may be read behind each part.
  static constexpr uint64_t kMargin = 128;

  // `offsets`: of each shard's bytes in the file. `corrupt` where the layout has a shard that the
  // file has not.
  static Result<PackedPlan> make(const HoloIndex& index, const std::vector<uint64_t>& offsets,
                                 const StepParts& steps, const PackedPlanOptions& options = {});

  const std::vector<PackedShard>& shards() const { return shards_; }  // ascending in the arena
  const std::vector<PackedRegion>& regions() const { return regions_; }
  uint64_t arena_bytes() const { return arena_bytes_; }
  // At most arena_bytes(). Copies of up to `chunk_bytes` that begin in ascending order, each when
  // what it overwrites is free, never wait for themselves.
  uint64_t ring_bytes() const { return ring_bytes_; }
  uint64_t in_ring(uint64_t arena) const { return ring_bytes_ == 0 ? 0 : arena % ring_bytes_; }
  // Where a part that was planned lies.
  uint64_t part(size_t tensor, size_t part) const { return parts_[tensor][part]; }

 private:
  class Planner;

  std::vector<PackedShard> shards_;
  std::vector<PackedRegion> regions_;
  std::vector<std::vector<uint64_t>> parts_;
  uint64_t arena_bytes_ = 0;
  uint64_t ring_bytes_ = 0;
};

}  // namespace hoist::tensors
