// What the ensemble metrics need of each symbol, computed once for all records.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "match/record/record.h"
#include "match/score/symbol_map.h"

namespace hoist::match {

// P is the share of patterns that have the symbol.
struct SymbolTerms {
  double probability = 0;         // P
  double log10_probability = 0;   // of 1e-10 where P is 0
  double entropy = 0;             // P log(P), in units of the vocabulary
  double document_frequency = 0;  // inverse: log2(patterns / patterns with it) + 1
  std::string_view text = {};
};

// P is known only for symbols that some record matches or misses; the reference takes all others
// for unheard of.
class SymbolTable {
 public:
  SymbolTable(const StateView& state, const RecordSource& source, std::span<const Record> records,
              ThreadPool& pool);

  const SymbolTerms& of(uint32_t symbol) const {
    const uint32_t number = numbers_.find(symbol);
    return number == SymbolMap::kAbsent ? unheard_ : terms_[number];
  }
  uint64_t patterns() const { return totals_.patterns; }
  uint64_t vocabulary() const { return totals_.symbols; }

 private:
  SymbolTerms terms_of(double probability) const;

  RecordSource::Totals totals_;
  SymbolMap numbers_;
  SymbolTerms unheard_;
  std::vector<SymbolTerms> terms_;  // by number
};

}  // namespace hoist::match
