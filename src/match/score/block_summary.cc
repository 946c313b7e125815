#include "match/score/block_summary.h"

namespace hoist::match {

BlockSummary summarize(std::span<const uint32_t> pattern, std::span<const Block> blocks) {
  BlockSummary summary;
  summary.is_known = 1;
  if (blocks.empty()) return summary;
  summary.blocks = static_cast<uint16_t>(blocks.size());
  for (const Block& block : blocks) summary.matches += static_cast<uint16_t>(block.size);
  summary.begin = static_cast<uint16_t>(blocks.front().a);
  summary.end = static_cast<uint16_t>(blocks.back().a + blocks.back().size);
  summary.before = summary.begin;
  while (summary.before != 0 && pattern[summary.before - 1u] != pattern[summary.begin]) {
    --summary.before;
  }
  return summary;
}

}  // namespace hoist::match
