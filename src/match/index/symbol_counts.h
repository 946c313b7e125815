// In how many patterns of a segment each of its symbols is, and how often: what the vocabulary's
// counts are summed up from when a snapshot is loaded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/segment_view.h"

namespace hoist::match {

// By the segment's own symbol ids. Patterns of frequency 0 count nothing.
struct SymbolCounts {
  std::vector<uint32_t> patterns_with;
  std::vector<uint64_t> occurrences;  // times the patterns' frequencies
};

// `frequencies` by pattern index. Ids that are not the segment's count nothing.
SymbolCounts count_symbols(const SegmentView& segment, std::span<const uint32_t> frequencies);

}  // namespace hoist::match
