#include "match/score/blocks.h"

#include <algorithm>
#include <array>
#include <bit>

namespace hoist::match {
namespace {

constexpr size_t kAutojunkLength = 200;
// Rows up to which words are the fastest way, whatever matches: each costs up to 64 steps a window.
constexpr size_t kWordRows = 4096;
// Up to this many pairs are listed.
constexpr size_t kListedPairs = 1 << 16;

constexpr uint64_t bits_below(uint32_t end) {
  return end == ColumnWords::kLongest ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
}

// The longest run of rows [begin, end), in columns that `inside` has, and the last of its rows.
struct LongestInWords {
  Block block = {0, 0, 0};
  size_t row = 0;
};
LongestInWords longest_in_words(std::span<const BlockMatcher::Row> rows, size_t begin, size_t end,
                                uint64_t inside) {
  LongestInWords longest;
  std::array<uint64_t, ColumnWords::kLongest>
      ends;            // ends[k]: where runs longer than k end in this row
  uint32_t depth = 0;  // the longest one's length
  for (size_t row = begin; row < end; ++row) {
    const bool follows = row != begin && rows[row - 1].i + 1 == rows[row].i;
    const uint64_t columns = rows[row].columns & inside;
    const uint32_t most = follows ? std::min<uint32_t>(depth + 1, ColumnWords::kLongest) : 1;
    for (uint32_t k = most - 1; k > 0; --k) ends[k] = columns & ends[k - 1] << 1;
    ends[0] = columns;
    for (depth = most; depth > 0 && ends[depth - 1] == 0;) --depth;
    if (depth <= longest.block.size) continue;
    const auto last = static_cast<uint32_t>(std::countr_zero(ends[depth - 1]));
    longest = {{rows[row].i + 1 - depth, last + 1 - depth, depth}, row};
  }
  return longest;
}

}  // namespace

BlockMatcher::BlockMatcher(std::span<const uint32_t> b, bool autojunk)
    : b_(b), symbols_(b.size()), columns_(b) {
  std::vector<uint32_t> counts;
  for (const uint32_t symbol : b) {
    const uint32_t number = symbols_.add(symbol);
    if (number == counts.size()) counts.push_back(0);
    ++counts[number];
  }
  if (autojunk && b.size() >= kAutojunkLength) {
    const size_t most = b.size() / 100 + 1;
    for (uint32_t& count : counts) {
      if (count <= most) continue;
      count = 0;
      has_popular_ = true;
    }
  }
  begins_.resize(counts.size() + 1);
  for (size_t i = 0; i < counts.size(); ++i) begins_[i + 1] = begins_[i] + counts[i];
  positions_.resize(begins_.back());
  std::vector<uint32_t> ends(begins_.begin(), begins_.end() - 1);
  for (uint32_t j = 0; j < b.size(); ++j) {
    const uint32_t number = symbols_.find(b[j]);
    if (counts[number] != 0) positions_[ends[number]++] = j;
  }
}

// A window's rows are counted among those that match anything.
void BlockMatcher::find_in_words(std::span<const uint32_t> a, std::vector<Block>& blocks,
                                 Scratch& scratch) const {
  scratch.matching.resize(std::max(scratch.matching.size(), a.size()));
  uint32_t rows = 0;
  for (uint32_t i = 0; i < a.size(); ++i) {
    const uint64_t columns = columns_.of(a[i]);
    scratch.matching[rows] = {i, columns};
    rows += columns != 0 ? 1 : 0;
  }
  scratch.windows.assign(1, {0, rows, 0, static_cast<uint32_t>(b_.size())});
  while (!scratch.windows.empty()) {
    const Window window = scratch.windows.back();
    scratch.windows.pop_back();
    const uint64_t inside = bits_below(window.b_end) & ~bits_below(window.b_begin);
    const auto [block, row] =
        longest_in_words(scratch.matching, window.a_begin, window.a_end, inside);
    if (block.size == 0) continue;
    blocks.push_back(block);
    const auto row_end = static_cast<uint32_t>(row) + 1;
    const Window before = {window.a_begin, row_end - block.size, window.b_begin, block.b};
    const Window behind = {row_end, window.a_end, block.b + block.size, window.b_end};
    for (const Window& next : {before, behind}) {
      if (next.a_begin < next.a_end && next.b_begin < next.b_end) scratch.windows.push_back(next);
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& x, const Block& y) { return x.a < y.a; });
}

void BlockMatcher::list_pairs(Scratch& scratch) const {
  scratch.pairs.clear();
  scratch.rows.clear();
  size_t above = 0;  // first pair of the row above
  for (uint32_t i = 0; i < scratch.numbers.size(); ++i) {
    const size_t row = scratch.pairs.size();
    scratch.rows.push_back(static_cast<uint32_t>(row));
    size_t left = above;
    for (const uint32_t j : positions(scratch.numbers[i])) {
      while (left < row && scratch.pairs[left].j + 1 < j) ++left;
      const bool continues = left < row && scratch.pairs[left].j + 1 == j;
      scratch.pairs.push_back({i, j, continues ? scratch.pairs[left].run + 1 : 1});
    }
    above = row;
  }
  scratch.rows.push_back(static_cast<uint32_t>(scratch.pairs.size()));
}

Block BlockMatcher::longest_listed(const Window& window, const Scratch& scratch) const {
  Block best = {window.a_begin, window.b_begin, 0};
  for (size_t p = scratch.rows[window.a_begin]; p < scratch.rows[window.a_end]; ++p) {
    const Pair& pair = scratch.pairs[p];
    if (pair.j < window.b_begin || pair.j >= window.b_end) continue;
    const uint32_t run =
        std::min({pair.run, pair.i - window.a_begin + 1, pair.j - window.b_begin + 1});
    if (run > best.size) best = {pair.i + 1 - run, pair.j + 1 - run, run};
  }
  return best;
}

bool BlockMatcher::longest_walked(const Window& window, Scratch& scratch,
                                  const std::stop_token& stop, Block& best) const {
  best = {window.a_begin, window.b_begin, 0};
  // runs[j] is of row i if runs[j].row is i + 1, so that 0 is of none.
  std::fill(scratch.runs.begin() + window.b_begin, scratch.runs.begin() + window.b_end, Run{});
  for (uint32_t i = window.a_begin; i < window.a_end; ++i) {
    if (stop.stop_requested()) return false;
    const auto columns = positions(scratch.numbers[i]);
    const auto begin = std::lower_bound(columns.begin(), columns.end(), window.b_begin);
    auto column = std::lower_bound(begin, columns.end(), window.b_end);
    Block row = {0, 0, 0};
    while (column != begin) {  // from the right: the row above is still to the left
      const uint32_t j = *--column;
      const bool continues = j > window.b_begin && scratch.runs[j - 1].row == i && i > 0;
      const uint32_t run = continues ? scratch.runs[j - 1].length + 1 : 1;
      scratch.runs[j] = {i + 1, run};
      if (run >= row.size) row = {i + 1 - run, j + 1 - run, run};
    }
    if (row.size > best.size) best = row;
  }
  return true;
}

// difflib grows a block over popular symbols beside it, and a window without any other match over
// those at its first corner.
void BlockMatcher::extend(std::span<const uint32_t> a, const Window& window, Block& block) const {
  while (block.a > window.a_begin && block.b > window.b_begin &&
         a[block.a - 1] == b_[block.b - 1]) {
    block = {block.a - 1, block.b - 1, block.size + 1};
  }
  while (block.a + block.size < window.a_end && block.b + block.size < window.b_end &&
         a[block.a + block.size] == b_[block.b + block.size]) {
    ++block.size;
  }
}

bool BlockMatcher::find(std::span<const uint32_t> a, std::vector<Block>& blocks, Scratch& scratch,
                        const std::stop_token& stop, Way way) const {
  blocks.clear();
  if (a.empty() || b_.empty()) return true;
  if (way == Way::fastest && !columns_.is_empty() && a.size() <= kWordRows) {
    find_in_words(a, blocks, scratch);
    return true;
  }
  scratch.numbers.resize(a.size());
  size_t pairs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    scratch.numbers[i] = symbols_.find(a[i]);
    pairs += positions(scratch.numbers[i]).size();
  }
  if (pairs == 0 && !has_popular_) return true;
  const bool listed = way != Way::walked && pairs <= kListedPairs;
  if (listed) {
    list_pairs(scratch);
  } else {
    scratch.runs.resize(b_.size());
  }
  scratch.windows.assign(1,
                         {0, static_cast<uint32_t>(a.size()), 0, static_cast<uint32_t>(b_.size())});
  while (!scratch.windows.empty()) {
    const Window window = scratch.windows.back();
    scratch.windows.pop_back();
    Block block;
    if (listed) {
      block = longest_listed(window, scratch);
    } else if (!longest_walked(window, scratch, stop, block)) {
      return false;
    }
    if (has_popular_) extend(a, window, block);
    if (block.size == 0) continue;
    blocks.push_back(block);
    if (window.a_begin < block.a && window.b_begin < block.b) {
      scratch.windows.push_back({window.a_begin, block.a, window.b_begin, block.b});
    }
    if (block.a + block.size < window.a_end && block.b + block.size < window.b_end) {
      scratch.windows.push_back(
          {block.a + block.size, window.a_end, block.b + block.size, window.b_end});
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& x, const Block& y) { return x.a < y.a; });
  // Blocks that touch in both sequences become one. Only popular symbols can make them touch.
  size_t kept = 0;
  for (size_t i = 1; i < blocks.size(); ++i) {
    Block& last = blocks[kept];
    if (last.a + last.size == blocks[i].a && last.b + last.size == blocks[i].b) {
      last.size += blocks[i].size;
    } else {
      blocks[++kept] = blocks[i];
    }
  }
  if (!blocks.empty()) blocks.resize(kept + 1);
  return true;
}

}  // namespace hoist::match
