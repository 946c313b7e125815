// What else difflib.SequenceMatcher answers, from its blocks (blocks.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/score/blocks.h"

namespace hoist::match {

enum class Edit : uint8_t { equal, replace, remove, insert };

// a[a_begin..a_end) becomes b[b_begin..b_end).
struct Opcode {
  Edit edit;
  uint32_t a_begin, a_end, b_begin, b_end;

  bool operator==(const Opcode&) const = default;
};

// As get_opcodes(): in order, without gaps, from both begins to both ends.
std::vector<Opcode> opcodes(std::span<const Block> blocks, uint32_t a_length, uint32_t b_length);

// Symbols in blocks.
uint64_t matched_symbols(std::span<const Block> blocks);

// 2 * matched / total, 1 where total is 0: ratio(); quick_ratio() with the symbols in common
// whatever their order for `matched`, real_quick_ratio() with the shorter length.
double difflib_ratio(uint64_t matched, uint64_t total);

}  // namespace hoist::match
