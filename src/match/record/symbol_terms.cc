#include "match/record/symbol_terms.h"

#include <algorithm>
#include <cmath>

#include "base/chunks.h"

namespace hoist::match {
namespace {

constexpr size_t kSymbolsPerTask = 64;
// Symbols whose repetitions cost less in the table than to be found.
constexpr size_t kFew = 1 << 16;

std::vector<uint32_t> known_symbols(const StateView& state, std::span<const Record> records) {
  std::vector<uint32_t> symbols;
  std::vector<bool> is_matched(state.symbols.size());
  for (const Record& record : records) {
    for (const uint32_t position : record.matches) {
      if (is_matched[position]) continue;
      is_matched[position] = true;
      symbols.push_back(state.symbols[position]);
    }
    for (const auto& event : record.missing) {
      for (const uint32_t position : event) symbols.push_back(record.symbols[position]);
    }
  }
  if (symbols.size() > kFew) {
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  }
  return symbols;
}

}  // namespace

SymbolTable::SymbolTable(const StateView& state, const RecordSource& source,
                         std::span<const Record> records, ThreadPool& pool)
    : totals_(source.totals()), numbers_(0), unheard_(terms_of(0)) {
  std::vector<uint32_t> symbols = known_symbols(state, records);
  numbers_ = SymbolMap(symbols.size());
  std::erase_if(symbols, [&](uint32_t symbol) {
    const uint32_t before = numbers_.size();
    return numbers_.add(symbol) != before;
  });
  terms_.resize(symbols.size());
  const auto patterns = static_cast<double>(totals_.patterns);
  parallel_for_chunks(pool, symbols.size(), kSymbolsPerTask, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto with = static_cast<double>(source.patterns_with(symbols[i]));
      terms_[i] = terms_of(totals_.patterns > 0 ? with / patterns : 0.0);
      // Unless P is 0 some pattern has it, so it has a text.
      if (terms_[i].probability > 0) terms_[i].text = source.text(symbols[i]);
    }
  });
}

SymbolTerms SymbolTable::terms_of(double probability) const {
  SymbolTerms terms;
  terms.probability = probability;
  terms.log10_probability = std::log10(probability > 0 ? probability : 1e-10);
  if (totals_.symbols > 1 && probability > 0) {
    terms.entropy =
        probability * (std::log(probability) / std::log(static_cast<double>(totals_.symbols)));
  }
  // The count, as the reference gets it back from P.
  const auto all = static_cast<double>(totals_.patterns);
  const auto with = static_cast<uint64_t>(probability * all);
  terms.document_frequency = std::log2(all / static_cast<double>(std::max<uint64_t>(1, with))) + 1;
  return terms;
}

}  // namespace hoist::match
