// What the benchmarks of the entropy coder and of its peers share: symbols, and the counters.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <map>
#include <string>

#include "codec/entropy_testing.h"

namespace hoist::codec {

inline constexpr size_t kCpuSymbols = size_t{4} << 20;

struct CountedSymbols {
  std::vector<uint8_t> symbols;
  SymbolHistogram histogram;
};

using Draw = std::function<std::vector<uint8_t>(size_t, std::mt19937_64&)>;

inline const std::map<std::string, Draw>& draws() {
  static const std::map<std::string, Draw> all = {
      {"exponents", [](size_t n, auto& random) { return exponents(n, 0.02, random); }},
      {"letters", letters},
      {"two_symbols", [](size_t n, auto& random) { return uniform(n, 2, random); }},
      {"sparse", sparse},
      {"flat", [](size_t n, auto& random) { return uniform(n, 256, random); }},
  };
  return all;
}

inline const CountedSymbols& cpu_data(const std::string& name) {
  static std::map<std::string, CountedSymbols> made;
  if (const auto found = made.find(name); found != made.end()) return found->second;
  std::mt19937_64 random(1);
  CountedSymbols& data = made[name];
  data.symbols = draws().at(name)(kCpuSymbols, random);
  data.histogram.add(data.symbols);
  return data;
}

inline void report_size(benchmark::State& state, const CountedSymbols& data, size_t coded_bytes) {
  const double symbols = static_cast<double>(data.symbols.size());
  const double bits = 8.0 * static_cast<double>(coded_bytes) / symbols;
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * data.symbols.size()));
  state.counters["bits"] = bits;
  state.counters["above_%"] = 100 * (bits / data.histogram.entropy() - 1);
}

}  // namespace hoist::codec
