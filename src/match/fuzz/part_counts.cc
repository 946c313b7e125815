#include "match/fuzz/part_counts.h"

#include <algorithm>
#include <cstring>

namespace hoist::match {

namespace {

// What is there stays, and is written over.
template <typename T>
void grow(std::vector<T>& room, size_t size) {
  if (room.size() < size) room.resize(size);
}

}  // namespace

void PartCounts::set(Symbols needle, const QueryMasks& masks, Symbols text) {
  size_ = needle.size();
  length_ = text.size();
  single_.reset();
  is_empty_ = false;
  if (size_ <= 8) return count<uint8_t>(masks, text);
  if (size_ <= 16) return count<uint16_t>(masks, text);
  if (size_ <= 32) return count<uint32_t>(masks, text);
  if (size_ <= 64) return count<uint64_t>(masks, text);
  if (masks.words() <= kMaxWindowWords) return count_long(masks, text);
  single_.emplace(needle, text);
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

uint64_t PartCounts::most_of_whole() const {
  if (length_ == size_) return 0;
  const auto first = counts_.begin() + static_cast<ptrdiff_t>(size_) - 1;
  return *std::max_element(first, first + static_cast<ptrdiff_t>(length_ - size_));
}

}  // namespace hoist::match
