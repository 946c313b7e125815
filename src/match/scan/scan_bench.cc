// Scans of 10 million patterns of 15 symbols from a Zipf vocabulary of 31 029
// (HOIST_MATCH_BENCH_PATTERNS sets their number), on one thread and on all. Items are pairs of a
// state and a pattern; bytes are those of the segment's symbols, once a pass.
// bench/match/peer_bench.py has RapidFuzz's figures.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "match/scan/search.h"
#include "match/segment_builder.h"

namespace hoist::match {
namespace {

constexpr uint32_t kVocabulary = 31'029;

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

const Data& data(uint32_t length) {
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

void scan(benchmark::State& state, const TileKernels* kernels, bool one_thread) {
  const Data& d = data(static_cast<uint32_t>(state.range(0)));
  const auto queries = d.queries(static_cast<size_t>(state.range(2)));
  SearchOptions options;
  options.threshold = static_cast<double>(state.range(1)) / 1000;
  options.kernels = kernels;
  ThreadPool one(1);
  size_t matches = 0;
  for (auto _ : state) {
    const auto found =
        search(d.segment.view(), queries, options, one_thread ? one : ThreadPool::process());
    if (!found) return state.SkipWithError(found.error().message.c_str());
    matches = 0;
    for (const auto& one_state : *found) matches += one_state.size();
  }
  const SegmentView view = d.segment.view();
  state.SetItemsProcessed(
      static_cast<int64_t>(state.iterations() * view.pattern_count() * queries.size()));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * view.symbols16.size_bytes()));
  state.counters["matches"] = static_cast<double>(matches) / static_cast<double>(queries.size());
}

const bool registered = [] {
  const auto add = [](const std::string& name, const TileKernels* kernels, bool one_thread) {
    auto* bench =
        benchmark::RegisterBenchmark(("match/scan/" + name).c_str(), scan, kernels, one_thread);
    bench->ArgNames({"symbols", "threshold", "states"})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    for (const int threshold : {100, 500, 800}) bench->Args({15, threshold, 1});
    bench->Args({15, 500, 256})->Args({44, 500, 1});
  };
  for (const TileKernels* kernels : all_tile_kernels()) {
    add(std::string(kernels->name) + "/1thread", kernels, true);
  }
  add("all_threads", nullptr, false);
  return true;
}();

}  // namespace
}  // namespace hoist::match
