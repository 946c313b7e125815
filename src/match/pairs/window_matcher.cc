#include "match/pairs/window_matcher.h"

#include <algorithm>
#include <limits>

namespace hoist::match {
namespace {

constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

}  // namespace

WindowMatcher::WindowMatcher(std::span<const uint32_t> b, std::span<const Role> roles)
    : b_(b), roles_(roles), symbols_(b.size()) {
  std::vector<uint32_t> counts;
  for (size_t j = 0; j < b.size(); ++j) {
    if (roles[j] != Role::plain) continue;
    const uint32_t number = symbols_.add(b[j]);
    if (number == counts.size()) counts.push_back(0);
    ++counts[number];
  }
  begins_.resize(counts.size() + 1);
  for (size_t i = 0; i < counts.size(); ++i) begins_[i + 1] = begins_[i] + counts[i];
  positions_.resize(begins_.back());
  std::vector<uint32_t> ends(begins_.begin(), begins_.end() - 1);
  for (size_t j = 0; j < b.size(); ++j) {
    if (roles[j] == Role::plain) positions_[ends[symbols_.find(b[j])]++] = static_cast<uint32_t>(j);
  }
}

std::span<const uint32_t> WindowMatcher::positions(uint32_t symbol) const {
  const uint32_t number = symbols_.find(symbol);
  if (number == SymbolMap::kAbsent) return {};
  return {positions_.data() + begins_[number], begins_[number + 1] - begins_[number]};
}

Block WindowMatcher::longest(std::span<const uint32_t> a, const BlockMatcher::Window& window,
                             Scratch& scratch, const std::stop_token& stop) const {
  // runs[j]: the last row in which b[j] matched, and how long the run was that ended there. Columns
  // go backwards, so that the one before still has the row before.
  const uint32_t width = window.b_end - window.b_begin;
  if (scratch.runs.size() < width) scratch.runs.resize(width);
  std::fill_n(scratch.runs.begin(), width, BlockMatcher::Run{kNoRow, 0});
  BlockMatcher::Run* const runs = scratch.runs.data();
  Block best = {window.a_begin, window.b_begin, 0};
  for (uint32_t i = window.a_begin; i < window.a_end; ++i) {
    if (stop.stop_requested()) return best;
    const std::span<const uint32_t> all = positions(a[i]);
    const auto from = std::lower_bound(all.begin(), all.end(), window.b_begin);
    auto to = std::lower_bound(from, all.end(), window.b_end);
    uint32_t longest = 0;
    uint32_t last = 0;
    while (to != from) {
      const uint32_t j = *--to - window.b_begin;
      const bool follows = j > 0 && i > window.a_begin && runs[j - 1].row == i - 1;
      const uint32_t length = follows ? runs[j - 1].length + 1 : 1;
      runs[j] = {i, length};
      if (length >= longest) {
        longest = length;
        last = j;
      }
    }
    if (longest > best.size) {
      best = {i + 1 - longest, window.b_begin + last + 1 - longest, longest};
    }
  }
  extend(a, window, false, best);
  extend(a, window, true, best);
  return best;
}

void WindowMatcher::extend(std::span<const uint32_t> a, const BlockMatcher::Window& window,
                           bool junk, Block& block) const {
  const auto continues = [&](uint32_t i, uint32_t j) {
    return (roles_[j] == Role::junk) == junk && a[i] == b_[j];
  };
  while (block.a > window.a_begin && block.b > window.b_begin &&
         continues(block.a - 1, block.b - 1)) {
    --block.a;
    --block.b;
    ++block.size;
  }
  while (block.a + block.size < window.a_end && block.b + block.size < window.b_end &&
         continues(block.a + block.size, block.b + block.size)) {
    ++block.size;
  }
}

bool WindowMatcher::find(std::span<const uint32_t> a, std::vector<Block>& blocks, Scratch& scratch,
                         const std::stop_token& stop) const {
  blocks.clear();
  std::vector<BlockMatcher::Window> windows = {
      {0, static_cast<uint32_t>(a.size()), 0, static_cast<uint32_t>(b_.size())}};
  while (!windows.empty()) {
    const BlockMatcher::Window window = windows.back();
    windows.pop_back();
    const Block block = longest(a, window, scratch, stop);
    if (stop.stop_requested()) return false;
    if (block.size == 0) continue;
    blocks.push_back(block);
    if (window.a_begin < block.a && window.b_begin < block.b) {
      windows.push_back({window.a_begin, block.a, window.b_begin, block.b});
    }
    if (block.a + block.size < window.a_end && block.b + block.size < window.b_end) {
      windows.push_back({block.a + block.size, window.a_end, block.b + block.size, window.b_end});
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& x, const Block& y) { return x.a < y.a; });
  size_t kept = 0;
  for (size_t i = 1; i < blocks.size(); ++i) {
    Block& before = blocks[kept];
    if (before.a + before.size == blocks[i].a && before.b + before.size == blocks[i].b) {
      before.size += blocks[i].size;
    } else {
      blocks[++kept] = blocks[i];
    }
  }
  if (!blocks.empty()) blocks.resize(kept + 1);
  return true;
}

}  // namespace hoist::match
