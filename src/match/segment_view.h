// A segment: an immutable set of patterns (sequences of symbols) laid out for scans. This header is
// the layout; everything else either makes it (segment_builder.h) or reads it, from memory, from a
// mapped file or on a GPU.
//
// Symbols are the segment's own dense ids: dense_symbols[id] is the vocabulary id, ascending. 16
// bits each where the segment has at most 65 535 distinct symbols, else 32. The last value of
// the type pads; no id has it.
//
// Patterns lie in buckets of equal length, ascending, and in name order inside a bucket; a
// pattern's index counts through all buckets. A bucket is a row of tiles: 32 patterns interleaved,
// so that row r of a tile holds symbol r of its 32 patterns, one cache line of 16-bit symbols. The
// last tile is padded, unless that would waste memory on long patterns: then its patterns follow
// one by one, each contiguous ("singles"). Each bucket begins on a multiple of 32 symbols.
//
// At 15 symbols that is 30 bytes a pattern, and 4 for its name rank where that is wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace hoist::match {

inline constexpr uint32_t kMaxPatternLength = 65'535;
inline constexpr uint32_t kTileWidth = 32;
// Fewer than half a tile of patterns longer than this are stored as singles.
inline constexpr uint32_t kPaddedLength = 256;

struct LengthBucket {
  uint64_t first_pattern;  // index of its first pattern
  uint64_t first_symbol;   // where its first tile begins, in symbols
  uint32_t length;
  uint32_t count;  // patterns

  // Patterns that lie in tiles; the others are singles.
  uint32_t tiled() const {
    const uint32_t rest = count % kTileWidth;
    return length <= kPaddedLength || rest >= kTileWidth / 2 ? count : count - rest;
  }
  uint32_t tiles() const { return tiled() / kTileWidth + (tiled() % kTileWidth != 0 ? 1 : 0); }
  // Symbols from the bucket's begin to the next bucket's.
  uint64_t symbols() const {
    const uint64_t used = (uint64_t{tiles()} * kTileWidth + (count - tiled())) * uint64_t{length};
    return (used + kTileWidth - 1) / kTileWidth * kTileWidth;
  }
  uint64_t tile_at(uint32_t tile) const {
    return first_symbol + uint64_t{tile} * kTileWidth * length;
  }
  // Where the pattern begins that is `position` patterns into the bucket, and how far apart its
  // symbols are.
  uint64_t pattern_at(uint32_t position) const {
    if (position < tiled()) return tile_at(position / kTileWidth) + position % kTileWidth;
    return tile_at(tiles()) + uint64_t{position - tiled()} * length;
  }
  uint32_t stride_of(uint32_t position) const { return position < tiled() ? kTileWidth : 1; }
};
static_assert(sizeof(LengthBucket) == 24);  // it is stored as it is

struct SegmentView {
  std::span<const LengthBucket> buckets;
  std::span<const uint32_t> dense_symbols;
  // Exactly one of the two holds the symbols; both are empty where there are none.
  std::span<const uint16_t> symbols16;
  std::span<const uint32_t> symbols32;
  // By pattern index: its place among all patterns of the segment in name order. Ties in rankings
  // are broken by it. It may be empty: then by the index.
  std::span<const uint32_t> name_ranks;

  uint64_t pattern_count() const {
    return buckets.empty() ? 0 : buckets.back().first_pattern + buckets.back().count;
  }
  uint32_t name_rank(uint64_t pattern) const {
    return name_ranks.empty() ? static_cast<uint32_t>(pattern) : name_ranks[pattern];
  }
  // The bucket that holds a pattern, which must be below pattern_count().
  const LengthBucket& bucket_of(uint64_t pattern) const {
    const auto after =
        std::upper_bound(buckets.begin(), buckets.end(), pattern,
                         [](uint64_t p, const LengthBucket& b) { return p < b.first_pattern; });
    return *(after - 1);
  }
};

// What a scan relies on, for views of bytes that are not trusted: `corrupt` unless the buckets are
// in order, fill the symbols exactly, and name ranks are as many as patterns and below their
// number. It reads no symbol: a scan takes any value.
Status check_segment(const SegmentView& segment);

// The symbols of one pattern as vocabulary ids, into `out` (replaced). `corrupt` for a symbol that
// the segment does not have, `invalid_argument` for an index that it does not have.
Status read_pattern(const SegmentView& segment, uint64_t pattern, std::vector<uint32_t>& out);

}  // namespace hoist::match
