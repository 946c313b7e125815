#include "match/fuzz/part_counts.h"

#include <algorithm>
#include <cstring>

#include "match/fuzz/masked_counts.h"

namespace hoist::match {

namespace {

// What is there stays, and is written over.
template <typename T>
void grow(std::vector<T>& room, size_t size) {
  if (room.size() < size) room.resize(size);
}

// out(length, LCS) for each of the first `most` beginnings of a text, whose symbols come from
// symbol(place). After each symbol the addition of an LCS's step is carried out of the last word
// where the LCS became longer.
template <typename Symbol, typename Out>
void count_beginnings(const QueryMasks& masks, size_t most, std::vector<uint64_t>& state,
                      const Symbol& symbol, const Out& out) {
  const size_t words = masks.words();
  state.assign(words, ~uint64_t{0});
  uint64_t* const words_of_state = state.data();
  uint32_t count = 0;
  for (size_t place = 0; place < most; ++place) {
    const uint64_t* const mask = masks.of(symbol(place));
    uint64_t carry = 0;
    for (size_t word = 0; word < words; ++word) {
      const uint64_t before = words_of_state[word];
      const uint64_t matches = before & mask[word];
      uint64_t sum = 0;
      const bool overflows = __builtin_add_overflow(before, matches, &sum);
      const bool carries = __builtin_add_overflow(sum, carry, &sum);
      words_of_state[word] = sum | (before - matches);
      carry = static_cast<uint64_t>(overflows || carries);
    }
    count += static_cast<uint32_t>(carry);
    out(place + 1, count);
  }
}

bool has_any(const uint64_t* words, size_t size) {
  return std::any_of(words, words + size, [](uint64_t word) { return word != 0; });
}

}  // namespace

void PartCounts::set(Symbols needle, const QueryMasks& masks, Symbols text) {
  needle_ = needle;
  masks_ = &masks;
  text_ = text;
  size_ = needle.size();
  length_ = text.size();
  has_all_ = false;
  is_empty_ = true;
  for (size_t place = 0; place < length_ && is_empty_; ++place) is_empty_ = !has(place);
  if (is_empty_) return;
  constexpr size_t kShort = 8;  // of which all are counted as soon
  if (size_ <= kShort) {
    count_all();
  } else {
    count_ends();
  }
}

bool PartCounts::has(size_t place) const {
  return has_any(masks_->of(text_[place]), masks_->words());
}

uint64_t PartCounts::common(size_t begin, size_t end) const {
  if (has_all_ || begin == 0 || end == length_) {
    // What lies outside the text matches nothing.
    return counts_[begin == 0 ? end - 1 : begin + size_ - 1];
  }
  return lcs_length(*masks_, as_sequence(text_.subspan(begin, end - begin)));
}

uint64_t PartCounts::most_of_whole(uint64_t least) {
  if (length_ == size_) return 0;
  if (!has_all_) {
    if (contains_needle()) return size_;
    if (const auto found = search(least)) return *found;
    count_all();
  }
  const auto first = counts_.begin() + static_cast<ptrdiff_t>(size_) - 1;
  return *std::max_element(first, first + static_cast<ptrdiff_t>(length_ - size_));
}

// But for the last part.
bool PartCounts::contains_needle() const {
  const Symbols text = text_.first(length_ - 1);
  return std::search(text.begin(), text.end(), needle_.begin(), needle_.end()) != text.end();
}

std::optional<uint64_t> PartCounts::search(uint64_t least) {
  struct Range {
    size_t first;
    size_t last;
  };
  constexpr uint32_t kUnknown = ~uint32_t{0};
  // As many one by one take a part of the time that all take in lanes.
  constexpr size_t kPart = 24;
  constexpr size_t kFew = 8;
  const size_t places = length_ - size_;
  size_t left = fits_lanes() ? std::max(kFew, places / kPart) : places;
  uint64_t most = 0;
  seen_.assign(places, kUnknown);
  const auto look_at = [&](size_t place) {
    uint32_t& count = seen_[place];
    if (count != kUnknown) return true;
    if (left-- == 0) return false;
    count = static_cast<uint32_t>(common(place, place + size_));
    most = std::max<uint64_t>(most, count);
    return true;
  };
  std::vector<Range> ranges = {{0, places - 1}};
  std::vector<Range> next;
  while (!ranges.empty() && most < size_) {
    for (const auto& [first, last] : ranges) {
      if (!look_at(first) || !look_at(last)) return {};
      const size_t width = last - first;
      if (width <= 1) continue;
      const uint64_t reachable = (uint64_t{seen_[first]} + seen_[last] + width) / 2;
      if (reachable < least || reachable <= most) continue;
      const size_t middle = first + width / 2;
      next.push_back({first, middle});
      next.push_back({middle, last});
    }
    ranges.swap(next);
    next.clear();
  }
  return most;
}

void PartCounts::count_all() {
  has_all_ = true;
  if (size_ <= 8) return count_in<uint8_t>();
  if (size_ <= 16) return count_in<uint16_t>();
  if (size_ <= 32) return count_in<uint32_t>();
  if (size_ <= 64) return count_in<uint64_t>();
  count_long();
}

template <typename Word>
void PartCounts::count_in() {
  const size_t outside = size_ - 1;
  grow(lane_masks_, (parts() + outside) * sizeof(Word) + kWindowSlack);
  grow(lanes_, parts() * sizeof(Word) + kWindowSlack);
  std::byte* const at = lane_masks_.data();
  std::memset(at, 0, outside * sizeof(Word));
  for (size_t i = 0; i < length_; ++i) {
    const auto word = static_cast<Word>(*masks_->of(text_[i]));
    std::memcpy(at + (outside + i) * sizeof(Word), &word, sizeof(Word));
  }
  std::memset(at + (outside + length_) * sizeof(Word), 0, outside * sizeof(Word));
  constexpr size_t kKind = sizeof(Word) == 1   ? 0
                           : sizeof(Word) == 2 ? 1
                           : sizeof(Word) == 4 ? 2
                                               : 3;
  kernels_.windows[kKind](at, size_, parts(), lanes_.data());
  grow(counts_, parts());
  for (size_t i = 0; i < parts(); ++i) {
    Word count;
    std::memcpy(&count, lanes_.data() + i * sizeof(Word), sizeof(Word));
    counts_[i] = static_cast<uint32_t>(count);
  }
}

void PartCounts::count_long() {
  const size_t outside = size_ - 1;
  const size_t words = masks_->words();
  const size_t stride = parts() + outside + kWindowSlack / sizeof(uint64_t);
  lane_masks_.assign(words * stride * sizeof(uint64_t), std::byte{0});
  lanes_.resize(parts() * sizeof(uint64_t) + kWindowSlack);
  auto* const rows = reinterpret_cast<uint64_t*>(lane_masks_.data());
  for (size_t i = 0; i < length_; ++i) {
    const uint64_t* const row = masks_->of(text_[i]);
    for (size_t w = 0; w < words; ++w) rows[w * stride + outside + i] = row[w];
  }
  auto* const lanes = reinterpret_cast<uint64_t*>(lanes_.data());
  kernels_.long_windows(rows, words, stride, size_, parts(), lanes);
  counts_.assign(lanes, lanes + parts());
}

void PartCounts::count_ends() {
  grow(counts_, parts());
  count_beginnings(
      *masks_, size_, state_, [&](size_t place) { return text_[place]; },
      [&](size_t length, uint32_t count) { counts_[length - 1] = count; });
  reversed_.assign(needle_.rbegin(), needle_.rend());
  reversed_masks_.set(reversed_);
  count_beginnings(
      reversed_masks_, size_, state_, [&](size_t place) { return text_[length_ - 1 - place]; },
      [&](size_t length, uint32_t count) { counts_[parts() - length] = count; });
}

}  // namespace hoist::match
