// Where each symbol of one sequence, the query, occurs in it, as bit masks: what the bit-parallel
// scorers (edit_distance.h) share for all sequences that the query is compared with.
//
// Masks are kept word by word and only where they are not zero, so that the memory is proportional
// to the query whatever its length and number of distinct symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/score/symbol_map.h"

namespace hoist::match {

class MatchMasks {
 public:
  struct Entry {
    uint64_t mask;  // bit i: position 64 * word + i holds the symbol
    uint32_t word;
  };

  explicit MatchMasks(std::span<const uint32_t> query);

  size_t length() const { return length_; }
  size_t words() const { return (length_ + 63) / 64; }

  // Ascending words; empty for a symbol that the query does not have.
  std::span<const Entry> entries(uint32_t symbol) const {
    const uint32_t number = symbols_.find(symbol);
    if (number == SymbolMap::kAbsent) return {};
    return {entries_.data() + begins_[number], begins_[number + 1] - begins_[number]};
  }

  // For queries of at most 64 symbols.
  uint64_t mask(uint32_t symbol) const {
    const uint32_t number = symbols_.find(symbol);
    return number == SymbolMap::kAbsent ? 0 : entries_[number].mask;
  }

 private:
  size_t length_;
  SymbolMap symbols_;
  std::vector<uint32_t> begins_;  // by symbol number, one more than symbols
  std::vector<Entry> entries_;
};

}  // namespace hoist::match
