#include "match/record/ensemble.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/chunks.h"
#include "match/record/alignment.h"
#include "match/record/symbol_terms.h"

namespace hoist::match {
namespace {

// A symbol and how often it occurs in a list.
struct Count {
  uint32_t symbol;
  uint32_t count;
};

// Lists up to this long are searched sooner than hashed.
constexpr size_t kShortList = 64;
constexpr size_t kRecordsPerTask = 16;

// In order of first appearance.
std::vector<Count> count_symbols(std::span<const uint32_t> symbols) {
  std::vector<Count> counts;
  if (symbols.size() <= kShortList) {
    counts.reserve(symbols.size());
    for (const uint32_t symbol : symbols) {
      const auto known = std::find_if(counts.begin(), counts.end(),
                                      [&](const Count& c) { return c.symbol == symbol; });
      if (known == counts.end()) {
        counts.push_back({symbol, 1});
      } else {
        ++known->count;
      }
    }
    return counts;
  }
  std::unordered_map<uint32_t, size_t> places;
  for (const uint32_t symbol : symbols) {
    const auto [place, is_new] = places.try_emplace(symbol, counts.size());
    if (is_new) counts.push_back({symbol, 0});
    ++counts[place->second].count;
  }
  return counts;
}

std::span<const uint32_t> present_of(const Record& record) {
  return std::span(record.symbols)
      .subspan(record.present_begin, record.present_end - record.present_begin);
}

double norm_of(const std::vector<Count>& counts, const SymbolTable& symbols) {
  double squares = 0;
  for (const Count& count : counts) {
    const double value = symbols.of(count.symbol).probability * count.count;
    squares += value * value;
  }
  return std::sqrt(squares);
}

// How often a symbol is in a list.
class CountsBySymbol {
 public:
  explicit CountsBySymbol(const std::vector<Count>& counts) : counts_(counts), numbers_(0) {
    if (counts.size() <= kShortList) return;
    numbers_ = SymbolMap(counts.size());
    for (const Count& count : counts) numbers_.add(count.symbol);
  }

  // 0 where it is not in it.
  uint32_t of(uint32_t symbol) const {
    if (counts_.size() > kShortList) {
      const uint32_t number = numbers_.find(symbol);
      return number == SymbolMap::kAbsent ? 0 : counts_[number].count;
    }
    for (const Count& count : counts_) {
      if (count.symbol == symbol) return count.count;
    }
    return 0;
  }

 private:
  const std::vector<Count>& counts_;
  SymbolMap numbers_;  // of a long list
};

// The cosine distance of counts times P as vectors over symbols.
double cosine_distance(const std::vector<Count>& state, double state_norm,
                       const std::vector<Count>& present, const SymbolTable& symbols) {
  if (!(state_norm > 0)) return 1.0;
  const CountsBySymbol in_present(present);
  double dot = 0;
  for (const Count& count : state) {
    const uint32_t other = in_present.of(count.symbol);
    if (other == 0) continue;
    const double probability = symbols.of(count.symbol).probability;
    dot += probability * other * (probability * count.count);
  }
  const double norms = norm_of(present, symbols) * state_norm;
  return 1.0 - (norms > 0 ? dot / norms : 0.0);
}

// 10 to the sum of the logarithms of P.
double joint_probability(std::span<const uint32_t> present, const SymbolTable& symbols) {
  double exponent = 0;
  for (const uint32_t symbol : present) exponent += symbols.of(symbol).log10_probability;
  return std::pow(10.0, exponent);
}

// Shannon entropy in bits, in units of the vocabulary, and that of the symbols' P.
void add_entropies(const std::vector<Count>& counts, double length, const SymbolTable& symbols,
                   Record& record) {
  const double base = std::log(static_cast<double>(symbols.vocabulary()));
  uint32_t last_count = 0;  // most are equal
  double bits = 0;
  double normalized = 0;
  for (const Count& count : counts) {
    if (count.count != last_count) {
      const double share = count.count / length;
      bits = share * std::log2(share);
      normalized = share * (std::log(share) / base);
      last_count = count.count;
    }
    record.entropy -= bits;
    if (symbols.vocabulary() > 1) record.normalized_entropy -= normalized;
  }
  if (symbols.vocabulary() <= 1) return;
  std::vector<const SymbolTerms*> terms;  // summed in order of their texts
  terms.reserve(counts.size());
  for (const Count& count : counts) {
    const SymbolTerms& known = symbols.of(count.symbol);
    if (known.probability > 0) terms.push_back(&known);
  }
  std::sort(terms.begin(), terms.end(),
            [](const SymbolTerms* x, const SymbolTerms* y) { return x->text < y->text; });
  for (const SymbolTerms* known : terms) record.global_normalized_entropy -= known->entropy;
}

double tfidf(const std::vector<Count>& counts, double length, const SymbolTable& symbols) {
  if (counts.empty() || symbols.patterns() == 0) return 0.0;
  double sum = 0;
  for (const Count& count : counts) {
    sum += count.count / length * symbols.of(count.symbol).document_frequency;
  }
  return sum / static_cast<double>(counts.size());
}

void add_bayesian_terms(std::span<Record> records, double frequencies) {
  double evidence = 0;
  for (Record& record : records) {
    record.bayesian_likelihood = record.similarity;
    if (!(frequencies > 0)) continue;
    record.bayesian_prior = static_cast<double>(record.frequency) / frequencies;
    evidence += record.similarity * record.bayesian_prior;
  }
  if (!(evidence > 0)) return;
  for (Record& record : records) {
    record.bayesian_posterior = record.similarity * record.bayesian_prior / evidence;
  }
}

// Events of a future with their symbols sorted, by which futures are told apart.
struct FutureKey {
  std::vector<uint32_t> symbols;
  std::vector<uint16_t> event_sizes;

  bool operator==(const FutureKey&) const = default;
};

struct FutureHash {
  size_t operator()(const FutureKey& key) const {
    uint64_t hash = key.event_sizes.size();
    for (const uint32_t symbol : key.symbols) hash = (hash ^ symbol) * 0x9E3779B97F4A7C15u;
    for (const uint16_t size : key.event_sizes) hash = (hash ^ size) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
  }
};

FutureKey future_of(const Record& record) {
  FutureKey key;
  key.symbols.assign(record.symbols.begin() + record.present_end, record.symbols.end());
  size_t begin = record.symbols.size();
  for (auto size = record.event_sizes.rbegin(); begin > record.present_end; ++size) {
    begin -= *size;
    key.event_sizes.push_back(*size);
    const auto first = key.symbols.begin() + static_cast<long>(begin - record.present_end);
    std::sort(first, first + *size);
  }
  std::reverse(key.event_sizes.begin(), key.event_sizes.end());
  return key;
}

}  // namespace

void add_ensemble_metrics(const StateView& state, const RecordSource& source,
                          const RecordOptions& options, std::span<Record> records,
                          ThreadPool& pool) {
  const RecordSource::Totals totals = source.totals();
  const SymbolTable symbols(state, source, records, pool);
  const std::vector<Count> state_counts = count_symbols(state.symbols);
  const double state_norm = norm_of(state_counts, symbols);
  double frequencies = 0;
  for (const Record& record : records) frequencies += static_cast<double>(record.frequency);
  const auto measure = [&](Record& record) {
    const std::span<const uint32_t> present = present_of(record);
    const auto frequency = static_cast<double>(record.frequency);
    std::vector<Count> counts = count_symbols(present);
    const double distance = cosine_distance(state_counts, state_norm, counts, symbols);
    if (frequencies > 0) record.itfdf_similarity = 1 - distance * frequency / frequencies;
    if (!present.empty() && totals.pattern_frequencies > 0) {
      record.confluence = frequency / static_cast<double>(totals.pattern_frequencies) *
                          (1 - joint_probability(present, symbols));
    }
    if (options.whole_pattern_entropy) counts = count_symbols(record.symbols);
    const auto length =
        static_cast<double>(options.whole_pattern_entropy ? record.symbols.size() : present.size());
    add_entropies(counts, length, symbols, record);
    record.tfidf_score = tfidf(counts, length, symbols);
  };
  parallel_for_chunks(pool, records.size(), kRecordsPerTask, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) measure(records[i]);
  });
  add_bayesian_terms(records, frequencies);
  for (Record& record : records) {
    const double evidence = record.weighted ? record.weighted->evidence : record.evidence;
    const double confidence = record.weighted ? record.weighted->confidence : record.confidence;
    const double snr = record.weighted ? record.weighted->snr : record.snr;
    record.potential = (evidence + confidence) * snr + record.itfdf_similarity +
                       fragmentation_term(record.fragmentation);
  }
}

std::vector<FuturePotential> add_predictive_information(std::span<Record> records) {
  double frequencies = 0;
  for (const Record& record : records) frequencies += static_cast<double>(record.frequency);
  std::vector<FuturePotential> futures;
  if (frequencies == 0) return futures;
  std::unordered_map<FutureKey, size_t, FutureHash> places;
  constexpr size_t kNoFuture = SIZE_MAX;
  std::vector<size_t> future_of_record;
  for (Record& record : records) {
    const auto frequency = static_cast<double>(record.frequency);
    record.pattern_probability = frequency / frequencies;
    record.weighted_strength = record.similarity * record.pattern_probability;
    FutureKey key = future_of(record);
    if (key.symbols.empty()) {
      future_of_record.push_back(kNoFuture);
      continue;
    }
    const auto [place, is_new] = places.try_emplace(std::move(key), futures.size());
    if (is_new) {
      futures.push_back({{record.symbols.begin() + record.present_end, record.symbols.end()},
                         place->first.event_sizes,
                         0,
                         0,
                         0});
    }
    FuturePotential& future = futures[place->second];
    future.total_weighted_frequency += frequency * record.similarity;
    ++future.supporting_patterns;
    future_of_record.push_back(place->second);
  }
  double total = 0;
  for (const FuturePotential& future : futures) total += future.total_weighted_frequency;
  for (FuturePotential& future : futures) {
    future.aggregate_potential = total > 0 ? future.total_weighted_frequency / total : 0.0;
  }
  for (size_t i = 0; i < records.size(); ++i) {
    if (future_of_record[i] == kNoFuture) continue;
    const double potential = futures[future_of_record[i]].aggregate_potential;
    if (potential > 0) records[i].predictive_information = records[i].weighted_strength / potential;
  }
  std::stable_sort(futures.begin(), futures.end(),
                   [](const FuturePotential& x, const FuturePotential& y) {
                     return x.aggregate_potential > y.aggregate_potential;
                   });
  return futures;
}

}  // namespace hoist::match
