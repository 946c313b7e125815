// What benchmarks of scans have in common: 10 million patterns of one length from a Zipf vocabulary
// of 31 029 symbols (HOIST_MATCH_BENCH_PATTERNS sets their number), and 256 states like them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "match/segment_builder.h"

namespace hoist::match::bench {

inline constexpr uint32_t kVocabulary = 31'029;

class Zipf {
 public:
  Zipf() {
    double sum = 0;
    for (uint32_t rank = 1; rank <= kVocabulary; ++rank) {
      sum += 1.0 / rank;
      cumulative_.push_back(sum);
    }
  }
  uint32_t operator()(std::mt19937_64& random) const {
    const double at = std::uniform_real_distribution<>(0, cumulative_.back())(random);
    const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end(), at);
    const auto rank = static_cast<uint32_t>(found - cumulative_.begin());
    return rank * 7919 % kVocabulary;  // ids say nothing about frequency
  }

 private:
  std::vector<double> cumulative_;
};

struct Data {
  Segment segment;
  std::vector<std::vector<uint32_t>> states;

  std::vector<std::span<const uint32_t>> queries(size_t count) const {
    return {states.begin(), states.begin() + static_cast<long>(count)};
  }
};

// The same for the same length; kept.
inline const Data& data(uint32_t length) {
  static std::vector<std::unique_ptr<Data>> made(100);
  if (made[length] != nullptr) return *made[length];
  const char* const wanted = std::getenv("HOIST_MATCH_BENCH_PATTERNS");
  const size_t patterns = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 10'000'000;
  std::mt19937_64 random(1);
  const Zipf zipf;
  std::vector<uint32_t> symbols(patterns * length);
  for (uint32_t& symbol : symbols) symbol = zipf(random);
  std::vector<uint64_t> ends(patterns);
  for (size_t i = 0; i < patterns; ++i) ends[i] = (i + 1) * length;
  made[length] = std::make_unique<Data>();
  made[length]->segment = std::move(*build_segment({symbols, ends, kVocabulary}));
  for (int i = 0; i < 256; ++i) {
    std::vector<uint32_t>& state = made[length]->states.emplace_back(length);
    for (uint32_t& symbol : state) symbol = zipf(random);
  }
  return *made[length];
}

}  // namespace hoist::match::bench
