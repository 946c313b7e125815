#include "codec/symbol_histogram.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace hoist::codec {

void SymbolHistogram::add(std::span<const uint8_t> symbols) {
  const size_t even = symbols.size() & ~size_t{1};
  for (size_t i = 0; i < even; i += 2) {
    ++pairs_[static_cast<size_t>(symbols[i] | symbols[i + 1] << 8)];
  }
  if (even != symbols.size()) ++odd_[symbols[even]];
}

void SymbolHistogram::merge(const SymbolHistogram& other) {
  for (size_t i = 0; i < pairs_.size(); ++i) pairs_[i] += other.pairs_[i];
  for (size_t i = 0; i < odd_.size(); ++i) odd_[i] += other.odd_[i];
}

uint64_t SymbolHistogram::total() const {
  return 2 * std::accumulate(pairs_.begin(), pairs_.end(), uint64_t{0}) +
         std::accumulate(odd_.begin(), odd_.end(), uint64_t{0});
}

std::array<uint64_t, 256> SymbolHistogram::singles() const {
  std::array<uint64_t, 256> counts = odd_;
  for (size_t pair = 0; pair < pairs_.size(); ++pair) {
    counts[pair & 0xff] += pairs_[pair];
    counts[pair >> 8] += pairs_[pair];
  }
  return counts;
}

double SymbolHistogram::entropy() const {
  const double all = static_cast<double>(total());
  double bits = 0;
  for (const uint64_t count : singles()) {
    if (count != 0)
      bits -= static_cast<double>(count) * std::log2(static_cast<double>(count) / all);
  }
  return all == 0 ? 0 : bits / all;
}

}  // namespace hoist::codec
