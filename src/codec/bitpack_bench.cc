// Unpacking, delta decoding, dictionaries, runs and encoding on one core; bytes are those of the
// decoded column. The peer of what decodes is a copy of the decoded column.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstring>
#include <random>

#include "codec/bitpack.h"
#include "codec/bitpack_test_columns.h"
#include "codec/dictionary.h"
#include "codec/integer_column.h"
#include "codec/run_length.h"

namespace hoist::codec {
namespace {

// In the second-level cache, and far beyond the last.
constexpr size_t kCacheBytes = size_t{256} << 10;
constexpr size_t kMemoryBytes = size_t{64} << 20;

struct Case {
  const char* name;
  Shape shape;
  unsigned width;
};

constexpr Case kCases[] = {
    {"unpack/width:3", Shape::narrow, 3},
    {"unpack/width:9", Shape::narrow, 9},
    {"unpack/width:16", Shape::narrow, 16},
    {"unpack/width:27", Shape::narrow, 27},
    {"unpack/width:9_patched_1%", Shape::narrow_patched, 9},
    {"delta/width:9", Shape::sorted, 9},
    {"delta/width:9_patched_1%", Shape::sorted_patched, 9},
    {"delta_of_delta/width:5", Shape::accelerating, 5},
};

template <typename T>
void decode(benchmark::State& state, const Case& wanted, const TileKernels& kernels, size_t bytes) {
  std::mt19937_64 random(1);
  const std::vector<T> column =
      make_column<T>(wanted.shape, wanted.width, bytes / sizeof(T), random);
  const Result<std::vector<std::byte>> stream = encode_bitpack<T>(column);
  const Result<BitpackView> view = BitpackView::open(*stream);
  std::vector<T> out(column.size());
  for (auto _ : state) {
    if (!view->decode<T>(0, out, kernels)) return state.SkipWithError("decoding failed");
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  if (out != column) return state.SkipWithError("decoded something else");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
  state.counters["ratio"] = static_cast<double>(bytes) / static_cast<double>(stream->size());
}

template <typename T>
void encode(benchmark::State& state, const Case& wanted) {
  std::mt19937_64 random(1);
  const std::vector<T> column =
      make_column<T>(wanted.shape, wanted.width, kCacheBytes / sizeof(T), random);
  for (auto _ : state) benchmark::DoNotOptimize(encode_bitpack<T>(column));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kCacheBytes));
}

// The same, and the search for a dictionary and for runs.
template <typename T>
void encode_column(benchmark::State& state, const Case& wanted) {
  std::mt19937_64 random(1);
  const std::vector<T> column =
      make_column<T>(wanted.shape, wanted.width, kCacheBytes / sizeof(T), random);
  for (auto _ : state) benchmark::DoNotOptimize(encode_integers<T>(column));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kCacheBytes));
}

template <typename T>
void decode_dictionary_column(benchmark::State& state, size_t entries) {
  std::mt19937_64 random(1);
  const std::vector<T> column = few_values<T>(entries, kMemoryBytes / sizeof(T), random);
  const std::vector<std::byte> stream =
      *encode_dictionary(*make_dictionary<T>(column, column.size()));
  std::vector<T> out(column.size());
  for (auto _ : state) {
    if (!decode_dictionary<T>(stream, out)) return state.SkipWithError("decoding failed");
    benchmark::ClobberMemory();
  }
  if (out != column) return state.SkipWithError("decoded something else");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kMemoryBytes));
}

template <typename T>
void decode_run_column(benchmark::State& state, size_t longest) {
  std::mt19937_64 random(1);
  const std::vector<T> column = long_runs<T>(longest, kMemoryBytes / sizeof(T), random);
  const std::vector<std::byte> stream = *encode_runs(find_runs<T>(column));
  std::vector<T> out(column.size());
  for (auto _ : state) {
    if (!decode_runs<T>(stream, out)) return state.SkipWithError("decoding failed");
    benchmark::ClobberMemory();
  }
  if (out != column) return state.SkipWithError("decoded something else");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kMemoryBytes));
}

void copy(benchmark::State& state, size_t bytes) {
  std::vector<std::byte> from(bytes, std::byte{1}), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

template <typename T>
void register_type(const char* type) {
  const auto add = [](const std::string& name, auto function) {
    benchmark::RegisterBenchmark(name.c_str(), function);
  };
  for (const Case& each : kCases) {
    if (each.width > 8 * sizeof(T)) continue;
    for (const TileKernels* kernels : all_tile_kernels()) {
      add(fmt::format("codec/bitpack/{}/{}/{}/cache", each.name, type, kernels->name),
          [=](benchmark::State& state) { decode<T>(state, each, *kernels, kCacheBytes); });
    }
    add(fmt::format("codec/bitpack/{}/{}/memory", each.name, type),
        [=](benchmark::State& state) { decode<T>(state, each, tile_kernels(), kMemoryBytes); });
    add(fmt::format("codec/bitpack/encode/{}/{}", each.name, type),
        [=](benchmark::State& state) { encode<T>(state, each); });
    add(fmt::format("codec/bitpack/encode_column/{}/{}", each.name, type),
        [=](benchmark::State& state) { encode_column<T>(state, each); });
  }
  for (const size_t entries : {200, 20000}) {
    add(fmt::format("codec/bitpack/dictionary/entries:{}/{}/memory", entries, type),
        [=](benchmark::State& state) { decode_dictionary_column<T>(state, entries); });
  }
  for (const size_t longest : {10, 1000}) {
    add(fmt::format("codec/bitpack/runs/up_to:{}/{}/memory", longest, type),
        [=](benchmark::State& state) { decode_run_column<T>(state, longest); });
  }
}

const bool registered = [] {
  register_type<uint16_t>("u16");
  register_type<uint32_t>("u32");
  register_type<uint64_t>("u64");
  benchmark::RegisterBenchmark("codec/bitpack/peer:memcpy/cache",
                               [](benchmark::State& state) { copy(state, kCacheBytes); });
  benchmark::RegisterBenchmark("codec/bitpack/peer:memcpy/memory",
                               [](benchmark::State& state) { copy(state, kMemoryBytes); });
  return true;
}();

}  // namespace
}  // namespace hoist::codec
