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

}  // namespace

void PartCounts::set(Symbols needle, const QueryMasks& masks, Symbols text) {
  size_ = needle.size();
  length_ = text.size();
  single_.reset();
  is_empty_ = false;
  if (size_ <= 8) return count<uint8_t>(masks, text);
  if (length_ - size_ <= kFewParts) return count_few(needle, masks, text);
  if (size_ <= 16) return count<uint16_t>(masks, text);
  if (size_ <= 32) return count<uint32_t>(masks, text);
  if (size_ <= 64) return count<uint64_t>(masks, text);
  if (masks.words() <= kMaxWindowWords) return count_long(masks, text);
  single_.emplace(needle, text);
  count_ends(needle, masks, text);
}

template <typename Word>
void PartCounts::count(const QueryMasks& masks, Symbols text) {
  const size_t outside = size_ - 1;
  const size_t parts = outside + length_;
  grow(masks_, (parts + outside) * sizeof(Word) + kWindowSlack);
  grow(lanes_, parts * sizeof(Word) + kWindowSlack);
  std::byte* const at = masks_.data();
  std::memset(at, 0, outside * sizeof(Word));
  Word any = 0;
  for (size_t i = 0; i < length_; ++i) {
    const auto word = static_cast<Word>(*masks.of(text[i]));
    any = static_cast<Word>(any | word);
    std::memcpy(at + (outside + i) * sizeof(Word), &word, sizeof(Word));
  }
  grow(counts_, parts);
  if (any == 0) {
    is_empty_ = true;
    std::fill_n(counts_.begin(), parts, 0);
    return;
  }
  std::memset(at + (outside + length_) * sizeof(Word), 0, outside * sizeof(Word));
  constexpr size_t kKind = sizeof(Word) == 1   ? 0
                           : sizeof(Word) == 2 ? 1
                           : sizeof(Word) == 4 ? 2
                                               : 3;
  kernels_.windows[kKind](at, size_, parts, lanes_.data());
  for (size_t i = 0; i < parts; ++i) {
    Word count;
    std::memcpy(&count, lanes_.data() + i * sizeof(Word), sizeof(Word));
    counts_[i] = static_cast<uint32_t>(count);
  }
}

void PartCounts::count_long(const QueryMasks& masks, Symbols text) {
  const size_t outside = size_ - 1;
  const size_t parts = outside + length_;
  const size_t words = masks.words();
  const size_t stride = parts + outside + kWindowSlack / sizeof(uint64_t);
  masks_.assign(words * stride * sizeof(uint64_t), std::byte{0});
  lanes_.resize(parts * sizeof(uint64_t) + kWindowSlack);
  auto* const rows = reinterpret_cast<uint64_t*>(masks_.data());
  for (size_t i = 0; i < length_; ++i) {
    const uint64_t* const row = masks.of(text[i]);
    for (size_t w = 0; w < words; ++w) rows[w * stride + outside + i] = row[w];
  }
  auto* const lanes = reinterpret_cast<uint64_t*>(lanes_.data());
  kernels_.long_windows(rows, words, stride, size_, parts, lanes);
  counts_.assign(lanes, lanes + parts);
}

void PartCounts::count_ends(Symbols needle, const QueryMasks& masks, Symbols text) {
  counts_.resize(size_ - 1 + length_);
  count_beginnings(
      masks, size_, state_, [&](size_t place) { return text[place]; },
      [&](size_t length, uint32_t count) { counts_[length - 1] = count; });
  reversed_.assign(needle.rbegin(), needle.rend());
  reversed_masks_.set(reversed_);
  count_beginnings(
      reversed_masks_, size_, state_, [&](size_t place) { return text[length_ - 1 - place]; },
      [&](size_t length, uint32_t count) { counts_[length_ - length + size_ - 1] = count; });
}

void PartCounts::count_few(Symbols needle, const QueryMasks& masks, Symbols text) {
  count_ends(needle, masks, text);
  uint32_t most = std::max(counts_[size_ - 1], counts_[length_ - 1]);
  // The first and the last whole part are an end.
  for (size_t begin = 1; begin + size_ < length_; ++begin) {
    const auto count =
        static_cast<uint32_t>(lcs_length(masks, as_sequence(text.subspan(begin, size_))));
    counts_[begin + size_ - 1] = count;
    most = std::max(most, count);
  }
  is_empty_ = most == 0;
}

uint64_t PartCounts::most_of_whole() const {
  if (length_ == size_) return 0;
  const auto first = counts_.begin() + static_cast<ptrdiff_t>(size_) - 1;
  return *std::max_element(first, first + static_cast<ptrdiff_t>(length_ - size_));
}

}  // namespace hoist::match
