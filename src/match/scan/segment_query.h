// One query prepared for one segment.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "match/scan/query_scorer.h"
#include "match/scan/tile_kernels.h"
#include "match/score/edit_distance.h"
#include "match/segment_view.h"

namespace hoist::match {

// The query's symbols as the segment's dense ids, kAbsentId for others.
std::vector<uint32_t> dense_ids(const SegmentView& segment, std::span<const uint32_t> query);

class SegmentQuery {
 public:
  SegmentQuery(const SegmentView& segment, std::span<const uint32_t> query);

  uint32_t length() const { return length_; }

  // Lanes of a tile of this bucket whose LCS is at least `least`, with those lanes' LCS. Once
  // `stop` is requested, here and below, it returns soon, with any answer.
  uint32_t scan_tile(const SegmentView& segment, const LengthBucket& bucket, uint32_t tile,
                     uint32_t least, const TileKernels& kernels, uint16_t* lcs,
                     const std::stop_token& stop = {}) const;

  // The LCS of any pattern of the bucket.
  uint32_t lcs_of(const SegmentView& segment, const LengthBucket& bucket, uint32_t position,
                  const std::stop_token& stop = {}) const;

 private:
  uint32_t length_;
  bool is_wide_;      // the segment's symbols have 32 bits
  MatchMasks masks_;  // of dense ids
  std::unique_ptr<QueryTables> tables_;
};

}  // namespace hoist::match
