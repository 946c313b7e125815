// The blocks of a pattern and a state (match/score/blocks.h) in five numbers, which is all that the
// rank of a record needs of them: a device can send them for many thousand patterns.
#pragma once

#include <cstdint>
#include <span>

#include "match/score/blocks.h"

namespace hoist::match {

// Summarises sequences of at most 65 535 symbols, compared without autojunk.
struct BlockSummary {
  uint16_t blocks = 0;
  uint16_t matches = 0;   // symbols in them
  uint16_t begin = 0;     // of the first block, in the pattern
  uint16_t end = 0;       // of the last one
  uint16_t before = 0;    // positions up to the last one before `begin` with the same symbol, or 0
  uint16_t is_known = 0;  // 0: it was not computed, and the rest means nothing

  bool operator==(const BlockSummary&) const = default;
};
static_assert(sizeof(BlockSummary) == 12);  // devices write it

// `blocks` in ascending order, as BlockMatcher gives them.
BlockSummary summarize(std::span<const uint32_t> pattern, std::span<const Block> blocks);

}  // namespace hoist::match
