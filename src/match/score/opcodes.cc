#include "match/score/opcodes.h"

namespace hoist::match {

std::vector<Opcode> opcodes(std::span<const Block> blocks, uint32_t a_length, uint32_t b_length) {
  std::vector<Opcode> codes;
  uint32_t a = 0;
  uint32_t b = 0;
  const auto close_gap = [&](uint32_t a_end, uint32_t b_end) {
    if (a == a_end && b == b_end) return;
    const Edit edit = a == a_end ? Edit::insert : b == b_end ? Edit::remove : Edit::replace;
    codes.push_back({edit, a, a_end, b, b_end});
  };
  for (const Block& block : blocks) {
    close_gap(block.a, block.b);
    a = block.a + block.size;
    b = block.b + block.size;
    codes.push_back({Edit::equal, block.a, a, block.b, b});
  }
  close_gap(a_length, b_length);
  return codes;
}

uint64_t matched_symbols(std::span<const Block> blocks) {
  uint64_t matched = 0;
  for (const Block& block : blocks) matched += block.size;
  return matched;
}

double difflib_ratio(uint64_t matched, uint64_t total) {
  return total == 0 ? 1.0 : 2.0 * static_cast<double>(matched) / static_cast<double>(total);
}

}  // namespace hoist::match
