#include "match/index/symbol_counts.h"

namespace hoist::match {
namespace {

template <typename T>
void count(const SegmentView& segment, std::span<const T> symbols,
           std::span<const uint32_t> frequencies, SymbolCounts& counts) {
  std::vector<uint64_t> seen_in(segment.dense_symbols.size());  // pattern index + 1
  for (const LengthBucket& bucket : segment.buckets) {
    for (uint32_t position = 0; position < bucket.count; ++position) {
      const uint64_t pattern = bucket.first_pattern + position;
      const uint32_t frequency = frequencies[pattern];
      if (frequency == 0) continue;
      const T* at = symbols.data() + bucket.pattern_at(position);
      const uint32_t stride = bucket.stride_of(position);
      for (uint32_t i = 0; i < bucket.length; ++i, at += stride) {
        if (*at >= counts.occurrences.size()) continue;
        counts.occurrences[*at] += frequency;
        if (seen_in[*at] == pattern + 1) continue;
        seen_in[*at] = pattern + 1;
        ++counts.patterns_with[*at];
      }
    }
  }
}

}  // namespace

SymbolCounts count_symbols(const SegmentView& segment, std::span<const uint32_t> frequencies) {
  const size_t symbols = segment.dense_symbols.size();
  SymbolCounts counts{std::vector<uint32_t>(symbols), std::vector<uint64_t>(symbols)};
  if (segment.symbols32.empty()) {
    count(segment, segment.symbols16, frequencies, counts);
  } else {
    count(segment, segment.symbols32, frequencies, counts);
  }
  return counts;
}

}  // namespace hoist::match
