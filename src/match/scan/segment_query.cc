#include "match/scan/segment_query.h"

#include <algorithm>
#include <bit>

namespace hoist::match {
namespace {

// 0xFFFF and 0xFFFFFFFF pad tiles; no mask may be at what absent symbols of the query are.
std::vector<uint32_t> present_or_unique(std::vector<uint32_t> ids) {
  std::replace(ids.begin(), ids.end(), kAbsentId, kAbsentId - 1);
  return ids;
}

template <typename T>
void gather(const T* at, uint32_t stride, std::vector<uint32_t>& out) {
  for (uint32_t& symbol : out) {
    symbol = *at;
    at += stride;
  }
}

}  // namespace

std::vector<uint32_t> dense_ids(const SegmentView& segment, std::span<const uint32_t> query) {
  std::vector<uint32_t> ids;
  ids.reserve(query.size());
  for (const uint32_t symbol : query) {
    const auto found =
        std::lower_bound(segment.dense_symbols.begin(), segment.dense_symbols.end(), symbol);
    const bool present = found != segment.dense_symbols.end() && *found == symbol;
    ids.push_back(present ? static_cast<uint32_t>(found - segment.dense_symbols.begin())
                          : kAbsentId);
  }
  return ids;
}

SegmentQuery::SegmentQuery(const SegmentView& segment, std::span<const uint32_t> query)
    : length_(static_cast<uint32_t>(query.size())),
      is_wide_(!segment.symbols32.empty()),
      masks_(present_or_unique(dense_ids(segment, query))),
      tables_(std::make_unique<QueryTables>()) {
  if (is_wide_) {
    fill_wide_tables(dense_ids(segment, query), *tables_);
  } else {
    fill_tables(dense_ids(segment, query), *tables_);
  }
}

uint32_t SegmentQuery::scan_tile(const SegmentView& segment, const LengthBucket& bucket,
                                 uint32_t tile, uint32_t least, const TileKernels& kernels,
                                 uint16_t* lcs, const std::stop_token& stop) const {
  const uint32_t used = std::min(kTileWidth, bucket.count - tile * kTileWidth);
  const uint32_t all = used == kTileWidth ? ~0u : (1u << used) - 1;
  const uint64_t begin = bucket.tile_at(tile);
  const uint16_t* const symbols = is_wide_ ? nullptr : segment.symbols16.data() + begin;
  const bool has_slots = tables_->slot_bits != 0 && kernels.slot_lcs != nullptr;
  uint32_t lanes = all;
  // Looking first whether any lane can have enough pays unless its LCS takes one limb only.
  if (least != 0 && !(has_slots && tables_->limbs == 1)) {
    lanes &= is_wide_ ? kernels.wide_members(*tables_, segment.symbols32.data() + begin,
                                             bucket.length, least)
                      : kernels.members(*tables_, symbols, bucket.length, least);
    if (lanes == 0) return 0;
  }
  if (has_slots) return all & kernels.slot_lcs(*tables_, symbols, bucket.length, least, lcs);
  if (tables_->is_one_word) kernels.word_lcs(*tables_, symbols, bucket.length, lanes, lcs);
  uint32_t enough = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    if (!tables_->is_one_word) {
      lcs[lane] = static_cast<uint16_t>(lcs_of(segment, bucket, tile * kTileWidth + lane, stop));
    }
    if (lcs[lane] >= least) enough |= 1u << lane;
  }
  return enough;
}

uint32_t SegmentQuery::lcs_of(const SegmentView& segment, const LengthBucket& bucket,
                              uint32_t position, const std::stop_token& stop) const {
  thread_local std::vector<uint32_t> pattern;
  pattern.resize(bucket.length);
  const uint64_t at = bucket.pattern_at(position);
  const uint32_t stride = bucket.stride_of(position);
  if (segment.symbols32.empty()) {
    gather(segment.symbols16.data() + at, stride, pattern);
  } else {
    gather(segment.symbols32.data() + at, stride, pattern);
  }
  return static_cast<uint32_t>(lcs_length(masks_, pattern, stop));
}

}  // namespace hoist::match
