#include "match/record/ensemble.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/chunks.h"
#include "match/record/alignment.h"

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

// P(s): the share of patterns that have a symbol, known only for symbols that some record matches
// or misses; the reference takes all others for unheard of.
class Probabilities {
 public:
  Probabilities(const StateView& state, const RecordSource& source, std::span<const Record> records)
      : patterns_(source.totals().patterns) {
    const auto add = [&](uint32_t symbol) {
      const auto [known, is_new] = known_.try_emplace(symbol, 0.0);
      if (is_new && patterns_ > 0) {
        known->second =
            static_cast<double>(source.patterns_with(symbol)) / static_cast<double>(patterns_);
      }
    };
    for (const Record& record : records) {
      for (const uint32_t position : record.matches) add(state.symbols[position]);
      for (const auto& event : record.missing) {
        for (const uint32_t position : event) add(record.symbols[position]);
      }
    }
  }

  // 0 where it is not known.
  double of(uint32_t symbol) const {
    const auto known = known_.find(symbol);
    return known == known_.end() ? 0.0 : known->second;
  }

  // log2(patterns / patterns with it) + 1, with the count as the reference gets it back from P.
  double inverse_document_frequency(uint32_t symbol) const {
    const auto all = static_cast<double>(patterns_);
    const auto with = static_cast<uint64_t>(of(symbol) * all);
    return std::log2(all / static_cast<double>(std::max<uint64_t>(1, with))) + 1;
  }

  uint64_t patterns() const { return patterns_; }

 private:
  uint64_t patterns_;
  std::unordered_map<uint32_t, double> known_;
};

// Counts times P as a vector over symbols.
struct WeightedCounts {
  std::vector<Count> counts;
  double norm = 0;
};

WeightedCounts weigh(std::span<const uint32_t> symbols, const Probabilities& probabilities) {
  WeightedCounts weighted = {count_symbols(symbols), 0};
  double squares = 0;
  for (const Count& count : weighted.counts) {
    const double value = probabilities.of(count.symbol) * count.count;
    squares += value * value;
  }
  weighted.norm = std::sqrt(squares);
  return weighted;
}

double cosine_distance(const WeightedCounts& state, const WeightedCounts& present,
                       const Probabilities& probabilities) {
  if (!(state.norm > 0)) return 1.0;
  std::unordered_map<uint32_t, uint32_t> in_present;
  for (const Count& count : present.counts) in_present[count.symbol] = count.count;
  double dot = 0;
  for (const Count& count : state.counts) {
    const auto other = in_present.find(count.symbol);
    if (other == in_present.end()) continue;
    const double probability = probabilities.of(count.symbol);
    dot += probability * other->second * (probability * count.count);
  }
  const double norms = present.norm * state.norm;
  return 1.0 - (norms > 0 ? dot / norms : 0.0);
}

// 10 to the sum of the logarithms of P.
double joint_probability(std::span<const uint32_t> symbols, const Probabilities& probabilities) {
  double exponent = 0;
  for (const uint32_t symbol : symbols) {
    const double probability = probabilities.of(symbol);
    exponent += std::log10(probability > 0 ? probability : 1e-10);
  }
  return std::pow(10.0, exponent);
}

// Shannon entropy in bits, in units of the vocabulary, and that of the symbols' P.
void add_entropies(std::span<const uint32_t> symbols, const Probabilities& probabilities,
                   const RecordSource& source, uint64_t vocabulary, Record& record) {
  const auto length = static_cast<double>(symbols.size());
  const double base = std::log(static_cast<double>(vocabulary));
  std::vector<Count> counts = count_symbols(symbols);
  for (const Count& count : counts) {
    const double share = count.count / length;
    record.entropy -= share * std::log2(share);
    if (vocabulary > 1) record.normalized_entropy -= share * (std::log(share) / base);
  }
  if (vocabulary <= 1) return;
  std::sort(counts.begin(), counts.end(), [&](const Count& x, const Count& y) {
    return source.text(x.symbol) < source.text(y.symbol);
  });
  for (const Count& count : counts) {
    const double probability = probabilities.of(count.symbol);
    if (probability > 0) {
      record.global_normalized_entropy -= probability * (std::log(probability) / base);
    }
  }
}

double tfidf(std::span<const uint32_t> symbols, const Probabilities& probabilities) {
  if (symbols.empty() || probabilities.patterns() == 0) return 0.0;
  const std::vector<Count> counts = count_symbols(symbols);
  double sum = 0;
  for (const Count& count : counts) {
    const double term_frequency = count.count / static_cast<double>(symbols.size());
    sum += term_frequency * probabilities.inverse_document_frequency(count.symbol);
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
  const Probabilities probabilities(state, source, records);
  const WeightedCounts state_counts = weigh(state.symbols, probabilities);
  double frequencies = 0;
  for (const Record& record : records) frequencies += static_cast<double>(record.frequency);
  const auto measure = [&](Record& record) {
    const std::span<const uint32_t> present = present_of(record);
    const auto frequency = static_cast<double>(record.frequency);
    const double distance =
        cosine_distance(state_counts, weigh(present, probabilities), probabilities);
    if (frequencies > 0) record.itfdf_similarity = 1 - distance * frequency / frequencies;
    if (!present.empty() && totals.pattern_frequencies > 0) {
      record.confluence = frequency / static_cast<double>(totals.pattern_frequencies) *
                          (1 - joint_probability(present, probabilities));
    }
    const std::span<const uint32_t> measured =
        options.whole_pattern_entropy ? std::span<const uint32_t>(record.symbols) : present;
    add_entropies(measured, probabilities, source, totals.symbols, record);
    record.tfidf_score = tfidf(measured, probabilities);
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
