// What benchmarks of scans have in common: 10 million patterns of one length from a Zipf vocabulary
// of 31 029 symbols (HOIST_MATCH_BENCH_PATTERNS sets their number; HOIST_MATCH_BENCH_COPIES repeats
// them that often, for sizes that take too long to draw), and 256 states like them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "base/threads.h"
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

// One bucket of whole tiles becomes one of `copies` times as many; nothing else is of that size.
inline void repeat(Segment& segment, size_t copies) {
  const std::span<const uint16_t> once = segment.symbols16.span();
  if (segment.buckets.size() != 1 || segment.buckets[0].count % kTileWidth != 0) std::abort();
  AlignedArray<uint16_t> symbols(once.size() * copies);
  ThreadPool::process().parallel_for(copies, [&](size_t copy) {
    std::memcpy(symbols.data() + copy * once.size(), once.data(), once.size_bytes());
  });
  segment.symbols16 = std::move(symbols);
  segment.buckets[0].count *= static_cast<uint32_t>(copies);
  segment.name_ranks.clear();
}

// The same for the same length; kept.
inline const Data& data(uint32_t length) {
  static std::vector<std::unique_ptr<Data>> made(100);
  if (made[length] != nullptr) return *made[length];
  const char* const wanted = std::getenv("HOIST_MATCH_BENCH_PATTERNS");
  const size_t patterns = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 10'000'000;
  std::mt19937_64 random(1);
  const Zipf zipf;
  std::vector<uint32_t> symbols(patterns * length);
  constexpr size_t kPart = 1 << 20;
  ThreadPool::process().parallel_for((symbols.size() + kPart - 1) / kPart, [&](size_t part) {
    std::mt19937_64 random(1000 + part);
    const size_t end = std::min(symbols.size(), (part + 1) * kPart);
    for (size_t i = part * kPart; i < end; ++i) symbols[i] = zipf(random);
  });
  std::vector<uint64_t> ends(patterns);
  for (size_t i = 0; i < patterns; ++i) ends[i] = (i + 1) * length;
  made[length] = std::make_unique<Data>();
  made[length]->segment = std::move(*build_segment({symbols, ends, kVocabulary}));
  const char* const copies = std::getenv("HOIST_MATCH_BENCH_COPIES");
  if (copies != nullptr) repeat(made[length]->segment, std::strtoull(copies, nullptr, 10));
  for (int i = 0; i < 256; ++i) {
    std::vector<uint32_t>& state = made[length]->states.emplace_back(length);
    for (uint32_t& symbol : state) symbol = zipf(random);
  }
  return *made[length];
}

}  // namespace hoist::match::bench
