#include "match/fuzz/part_counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

namespace hoist::match {

PartCounter::PartCounter(Symbols needle, Symbols text)
    : words_((needle.size() + 63) / 64), masks_(words_), state_(words_) {
  std::array<uint32_t, 256> low{};
  std::unordered_map<uint32_t, uint32_t> high;
  uint32_t next = 1;
  for (size_t i = 0; i < needle.size(); ++i) {
    const uint32_t symbol = needle[i];
    uint32_t& row = symbol < low.size() ? low[symbol] : high[symbol];
    if (row == 0) {
      row = next++;
      masks_.resize(masks_.size() + words_);
    }
    masks_[row * words_ + i / 64] |= uint64_t{1} << (i % 64);
  }
  rows_.reserve(text.size());
  for (const uint32_t symbol : text) {
    if (symbol < low.size()) {
      rows_.push_back(low[symbol]);
    } else {
      const auto found = high.find(symbol);
      rows_.push_back(found == high.end() ? 0 : found->second);
    }
  }
}

uint64_t PartCounter::common(size_t begin, size_t end) {
  if (words_ == 1) {
    uint64_t state = ~uint64_t{0};
    for (size_t place = begin; place < end; ++place) {
      const uint64_t matches = state & masks_[rows_[place]];
      state = (state + matches) | (state - matches);
    }
    return static_cast<uint64_t>(std::popcount(~state));
  }
  std::fill(state_.begin(), state_.end(), ~uint64_t{0});
  for (size_t place = begin; place < end; ++place) {
    if (rows_[place] == 0) continue;
    const uint64_t* const masks = masks_.data() + rows_[place] * words_;
    uint64_t carry = 0;
    for (size_t word = 0; word < words_; ++word) {
      const uint64_t state = state_[word];
      const uint64_t matches = state & masks[word];
      const uint64_t part = state + carry;
      const uint64_t sum = part + matches;
      carry = static_cast<uint64_t>(part < carry) + static_cast<uint64_t>(sum < matches);
      state_[word] = sum | (state - matches);
    }
  }
  uint64_t count = 0;
  for (const uint64_t state : state_) count += static_cast<uint64_t>(std::popcount(~state));
  return count;
}

}  // namespace hoist::match
