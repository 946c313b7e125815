// What asking costs: choose() against the least that any look-up could cost, one load of a table.
#include <benchmark/benchmark.h>

#include <array>

#include "placement/choose.h"

namespace hoist::placement {
namespace {

const VariantHandle& bench_variant() {
  static const VariantHandle* const handle = [] {
    Operation operation;
    operation.name = "bench";
    operation.variants = {
        {"intervals",
         1,
         {{0, "original"}, {100000, "cpu-1"}, {120000, "cpu-all"}, {9000000, "cpu-1"}}}};
    operation.implementations = {{"original"}, {"cpu-1"}, {"cpu-all", 0}};
    (void)Registry::process().add(std::move(operation));
    return Registry::process().find_variant("bench/intervals");
  }();
  return *handle;
}

// Sizes of all magnitudes, in an order that no branch predictor learns.
std::array<uint64_t, 4096> sizes() {
  std::array<uint64_t, 4096> list;
  uint64_t state = 1;
  for (uint64_t& size : list) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
    size = state >> (16 + (state >> 20) % 40);
  }
  return list;
}

void BM_choose(benchmark::State& state) {
  const VariantHandle& variant = bench_variant();
  const auto list = sizes();
  size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(choose(variant, {list[at++ % list.size()]}).implementation);
  }
}
BENCHMARK(BM_choose)->Name("placement/choose");

void BM_table(benchmark::State& state) {
  static const std::array<uint8_t, 65> table = {};
  const auto list = sizes();
  size_t at = 0;
  for (auto _ : state) {
    const uint64_t size = list[at++ % list.size()];
    benchmark::DoNotOptimize(table[static_cast<size_t>(std::bit_width(size))]);
  }
}
BENCHMARK(BM_table)->Name("placement/peer:one-table-load");

}  // namespace
}  // namespace hoist::placement
