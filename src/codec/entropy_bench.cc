// The entropy coder: bytes are symbols. The CPU's benchmarks run on one core, the GPU's decode from
// and to its own memory. Counters: bits a symbol, tables and sizes of tiles included, and what that
// is above the entropy, in percent.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <functional>
#include <map>
#include <string>

#include "codec/entropy_bench_data.h"
#include "codec/entropy_gpu.h"
#include "codec/entropy_tile.h"
#include "device/cuda_memory.h"

namespace hoist::codec {
namespace {

void encode_rans(benchmark::State& state, const std::string& name, const RansImplementation& rans) {
  const CountedSymbols& data = cpu_data(name);
  const EntropyTable table = EntropyTable::build(data.histogram).value();
  size_t coded = table.serialise().size();
  for (auto _ : state) {
    coded = table.serialise().size();
    for (size_t i = 0; i < data.symbols.size(); i += kMaxTileSymbols) {
      const auto tile =
          encode_tile(std::span(data.symbols).subspan(i, kMaxTileSymbols), table, rans);
      coded += tile.size() + 4;
      benchmark::DoNotOptimize(tile.data());
    }
  }
  report_size(state, data, coded);
}

void decode_rans(benchmark::State& state, const std::string& name, const RansImplementation& rans,
                 uint32_t width) {
  const CountedSymbols& data = cpu_data(name);
  const EntropyTable table = width == 0 ? EntropyTable::build(data.histogram).value()
                                        : EntropyTable::build(data.histogram, width).value();
  const auto coded = entropy_encode(data.symbols, table).value();
  const EntropyView view = EntropyView::parse(coded).value();
  std::vector<uint8_t> symbols(data.symbols.size());
  for (auto _ : state) {
    for (const EntropyTile& tile : view.tiles()) {
      const auto to = std::span(symbols).subspan(tile.first_symbol, tile.symbols);
      if (!decode_tile(view.bytes(tile), table, to, rans)) return state.SkipWithError("corrupt");
    }
    benchmark::ClobberMemory();
  }
  if (symbols != data.symbols) return state.SkipWithError("decoded something else");
  state.counters["symbols_per_code"] = table.symbols_per_code();
  report_size(state, data, coded.size() + table.serialise().size());
}

void histogram_and_table(benchmark::State& state, const std::string& name) {
  const CountedSymbols& data = cpu_data(name);
  for (auto _ : state) {
    SymbolHistogram histogram;
    histogram.add(data.symbols);
    benchmark::DoNotOptimize(EntropyTable::build(histogram));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * data.symbols.size()));
}

// Symbols for the GPU, drawn in parallel: `count` of them, a million at a time.
const CountedSymbols& gpu_data(const std::string& name, size_t count) {
  static std::map<std::pair<std::string, size_t>, CountedSymbols> made;
  CountedSymbols& data = made[{name, count}];
  if (!data.symbols.empty()) return data;
  constexpr size_t kPart = size_t{1} << 20;
  data.symbols.resize(count);
  ThreadPool::process().parallel_for(count / kPart, [&](size_t part) {
    std::mt19937_64 random(part);
    const std::vector<uint8_t> drawn = draws().at(name)(kPart, random);
    std::copy(drawn.begin(), drawn.end(), data.symbols.begin() + static_cast<long>(part * kPart));
  });
  data.histogram.add(data.symbols);
  return data;
}

// Runs `decode` under the device's clock, then compares what it left in `symbols`.
void time_on_gpu(benchmark::State& state, device::Stream& stream, const CountedSymbols& data,
                 size_t coded_bytes, device::Buffer& symbols,
                 const std::function<Status()>& decode) {
  if (!symbols.fill(std::byte{0xa5})) return state.SkipWithError("poisoning failed");
  auto timer = device::CudaTimer::create(stream);
  if (!timer) return state.SkipWithError(timer.error().message.c_str());
  if (!decode() || !stream.synchronize()) return state.SkipWithError("decoding failed");
  for (auto _ : state) {
    const bool started = timer->start() && decode();
    const auto seconds = timer->stop();
    if (!started || !seconds) return state.SkipWithError("decoding failed");
    state.SetIterationTime(*seconds);
  }
  std::vector<uint8_t> decoded(data.symbols.size());
  if (!symbols.download(std::as_writable_bytes(std::span(decoded))) || decoded != data.symbols) {
    return state.SkipWithError("decoded something else");
  }
  report_size(state, data, coded_bytes);
  const double moved = static_cast<double>(coded_bytes + data.symbols.size());
  state.counters["moved"] =
      benchmark::Counter(moved, benchmark::Counter::kIsIterationInvariantRate);
}

void gpu_rans(benchmark::State& state, const std::string& name, uint32_t width) {
  auto stream = device::stream_on_cuda();
  if (!stream) return state.SkipWithError(stream.error().message.c_str());
  const CountedSymbols& data = gpu_data(name, static_cast<size_t>(state.range(0)) << 20);
  const EntropyTable table = EntropyTable::build(data.histogram, width).value();
  const auto coded =
      entropy_encode(data.symbols, table, static_cast<uint32_t>(state.range(1)) << 10,
                     &ThreadPool::process())
          .value();
  const EntropyView view = EntropyView::parse(coded).value();
  auto section = CudaEntropySection::prepare(*stream, view, table);
  auto bytes = device::copy_to_cuda(coded);
  auto symbols = device::allocate_on_cuda(data.symbols.size());
  if (!section || !bytes || !symbols) return state.SkipWithError("no memory on the device");
  time_on_gpu(state, *stream, data, coded.size(), *symbols,
              [&] { return section->decode(bytes->data(), symbols->data()); });
  if (!section->finish()) state.SkipWithError("corrupt");
}

bool register_all() {
  const auto cpu = [](const std::string& name, auto run) {
    return benchmark::RegisterBenchmark(("codec/entropy/" + name).c_str(), run)
        ->Unit(benchmark::kMillisecond);
  };
  for (const auto& [data, draw] : draws()) {
    for (const RansImplementation* rans : rans_implementations()) {
      if (!rans->supported()) continue;
      cpu(fmt::format("decode/rans/{}/{}", rans->name, data),
          [data = data, rans](auto& state) { decode_rans(state, data, *rans, 0); });
      cpu(fmt::format("encode/rans/{}/{}", rans->name, data),
          [data = data, rans](auto& state) { encode_rans(state, data, *rans); });
    }
    cpu("encode/histogram_and_table/" + data,
        [data = data](auto& state) { histogram_and_table(state, data); });
  }
  cpu("decode/rans/single_symbols/exponents",
      [](auto& state) { decode_rans(state, "exponents", best_rans(), 1); });

  const auto gpu = [](const std::string& name, auto run) {
    return benchmark::RegisterBenchmark(("codec/entropy/gpu/" + name).c_str(), run)
        ->UseManualTime()
        ->Iterations(20)  // one run of these: setting up takes longer than decoding
        ->Repetitions(1)
        ->Unit(benchmark::kMicrosecond);
  };
  gpu("rans/pairs/exponents", [](auto& state) { gpu_rans(state, "exponents", 2); })
      ->ArgNames({"Mi", "tile_Ki"})
      ->ArgsProduct({{1024, 256, 64, 16}, {64, 32, 16, 8}});
  gpu("rans/singles/exponents", [](auto& state) { gpu_rans(state, "exponents", 1); })
      ->ArgNames({"Mi", "tile_Ki"})
      ->Args({1024, 64});
  gpu("rans/singles/letters", [](auto& state) { gpu_rans(state, "letters", 1); })
      ->ArgNames({"Mi", "tile_Ki"})
      ->Args({256, 64});
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace hoist::codec
