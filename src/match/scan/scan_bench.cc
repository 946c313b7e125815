// Scans of the patterns of scan_bench_data.h, on one thread and on all. Items are pairs of a state
// and a pattern; bytes are those of the segment's symbols, once a pass.
// bench/match/peer_bench.py has RapidFuzz's figures.
#include <benchmark/benchmark.h>

#include "match/scan/scan_bench_data.h"
#include "match/scan/search.h"

namespace hoist::match {
namespace {

using bench::data;
using bench::Data;

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
