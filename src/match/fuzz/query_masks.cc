#include "match/fuzz/query_masks.h"

#include <algorithm>
#include <bit>

namespace hoist::match {

void QueryMasks::set(Symbols query) {
  const size_t words = query.empty() ? 1 : (query.size() + 63) / 64;
  if (words != words_) {
    low_.assign(kLow * words, 0);
  } else if (words == 1) {
    for (const uint32_t symbol : used_) low_[symbol] = 0;
  } else {
    for (const uint32_t symbol : used_) std::fill_n(low_.data() + symbol * words, words, 0);
  }
  used_.clear();
  slots_.clear();
  size_ = query.size();
  words_ = words;
  high_masks_.assign(words, 0);
  size_t high = 0;
  for (size_t i = 0; i < query.size(); ++i) {
    if (query[i] >= kLow) {
      ++high;
      continue;
    }
    low_[query[i] * words + i / 64] |= uint64_t{1} << (i % 64);
    used_.push_back(query[i]);
  }
  if (high != 0) {
    slots_.assign(std::bit_ceil(2 * high), Slot{});
    add_high(query);
  }
}

void QueryMasks::add_high(Symbols query) {
  uint32_t rows = 1;
  for (size_t i = 0; i < query.size(); ++i) {
    if (query[i] < kLow) continue;
    Slot& slot = slots_[place_of(query[i])];
    if (slot.row == 0) {
      slot = {query[i], rows++};
      high_masks_.resize(size_t{rows} * words_);
    }
    high_masks_[size_t{slot.row} * words_ + i / 64] |= uint64_t{1} << (i % 64);
  }
}

}  // namespace hoist::match
