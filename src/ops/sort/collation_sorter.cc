#include "ops/sort/collation_sorter.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::sort {
namespace {

constexpr size_t kWorthKeys = 4;  // lines; fewer are compared

// A line and its key in a common string.
struct Keyed {
  size_t offset;
  size_t size;
  Entry entry;
};

}  // namespace

void CollationSorter::sort(std::span<Entry> entries, Stage stage) const {
  size_t bytes = 0;
  for (const Entry& entry : entries) bytes += order_.line(entry).length + sizeof(Keyed);
  if (bytes > block_bytes_ && entries.size() >= 2 * kWorthKeys) {
    const size_t half = entries.size() / 2;
    sort(entries.first(half), stage);
    sort(entries.subspan(half), stage);
    std::inplace_merge(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(half),
                       entries.end(), order_);
  } else if (entries.size() < kWorthKeys || !sort_block(entries, stage)) {
    std::stable_sort(entries.begin(), entries.end(), order_);
  }
}

// False, with the entries in any order, where keys do not help or there is no memory for them.
bool CollationSorter::sort_block(std::span<Entry> entries, Stage stage) const try {
  std::string keys;
  std::vector<Keyed> lines;
  lines.reserve(entries.size());
  for (const Entry& entry : entries) {
    const size_t offset = keys.size();
    if (!coder_.append_collation_key(order_.line(entry), stage, keys)) return false;
    lines.push_back({offset, keys.size() - offset, entry});
  }
  const auto key = [&](const Keyed& line) {
    return std::string_view(keys.data() + line.offset, line.size);
  };
  const bool reversed = coder_.is_reversed(stage);
  std::sort(lines.begin(), lines.end(), [&](const Keyed& a, const Keyed& b) {
    const int order = key(a).compare(key(b));
    return order != 0 ? (order < 0) != reversed : a.entry.lo < b.entry.lo;
  });
  for (size_t i = 0; i < lines.size(); ++i) entries[i] = lines[i].entry;
  // Equal keys say nothing about what follows a NUL, and about other keys of the lines.
  for (size_t begin = 0, end; begin < lines.size(); begin = end) {
    end = begin + 1;
    while (end < lines.size() && key(lines[end]) == key(lines[begin])) ++end;
    std::stable_sort(entries.begin() + static_cast<ptrdiff_t>(begin),
                     entries.begin() + static_cast<ptrdiff_t>(end), order_);
  }
  // Moving lines one by one pays for few only.
  size_t moves = 4 * entries.size() * static_cast<size_t>(std::bit_width(entries.size()));
  for (auto at = entries.begin() + 1; at != entries.end(); ++at) {
    if (!order_(*at, at[-1])) continue;
    const auto place = std::upper_bound(entries.begin(), at, *at, order_);
    const auto distance = static_cast<size_t>(at - place);
    if (distance > moves) return false;
    moves -= distance;
    std::rotate(place, at, at + 1);
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace hoist::sort
