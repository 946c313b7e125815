// Encoding and decoding one block of candles, beside zstd on the same text.
#include <benchmark/benchmark.h>

#include <numeric>
#include <string>

#include "codec/general.h"
#include "records/block.h"
#include "records/candle_text.h"
#include "records/limits.h"
#include "records/values.h"

namespace hoist::records {
namespace {

std::string make_candles() {
  std::string text = candle_text(0, kBlockText / 100, 1);
  text.resize(text.rfind('\n', kBlockText - 1) + 1);
  return text;
}

const std::string& candles() {
  static const std::string text = make_candles();
  return text;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void count(benchmark::State& state, size_t stored) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(candles().size()));
  state.counters["ratio"] = static_cast<double>(candles().size()) / static_cast<double>(stored);
}

void encode(benchmark::State& state) {
  std::string stored;
  for (auto _ : state) stored = encode_block(candles(), {.format = Format::json}, Effort::usual);
  count(state, stored.size());
}

void decode(benchmark::State& state) {
  const std::string stored = encode_block(candles(), {.format = Format::json}, Effort::usual);
  for (auto _ : state) {
    const Result<Block> block = Block::open(bytes_of(stored), candles().size());
    const Result<std::string> text = block ? block->text() : block.error();
    if (!text || *text != candles()) state.SkipWithError("other text");
  }
  count(state, stored.size());
}

// All columns as values; bytes are those of the text.
void columns(benchmark::State& state) {
  const std::string stored = encode_block(candles(), {.format = Format::json}, Effort::usual);
  for (auto _ : state) {
    const Result<Block> block = Block::open(bytes_of(stored), candles().size());
    if (!block) return state.SkipWithError("no block");
    std::vector<size_t> all(block->columns().size());
    std::iota(all.begin(), all.end(), 0);
    const Result<std::vector<ColumnValues>> columns = block->read(all);
    if (!columns) return state.SkipWithError("no columns");
    for (const ColumnValues& values : *columns)
      benchmark::DoNotOptimize(reals(*values.column).data());
  }
  count(state, stored.size());
}

void encode_peer(benchmark::State& state) {
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  size_t size = 1;
  for (auto _ : state) {
    const auto stored = zstd.compress(bytes_of(candles()), 3);
    if (!stored) return state.SkipWithError("no zstd");
    size = stored->size();
  }
  count(state, size);
}

void decode_peer(benchmark::State& state) {
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  const auto stored = zstd.compress(bytes_of(candles()), 3);
  if (!stored) return state.SkipWithError("no zstd");
  std::string text(candles().size(), '\0');
  for (auto _ : state) {
    if (!zstd.decompress(*stored, std::as_writable_bytes(std::span(text)))) {
      return state.SkipWithError("it failed");
    }
  }
  count(state, stored->size());
}

BENCHMARK(encode)->Name("records/candles/encode")->Unit(benchmark::kMillisecond);
BENCHMARK(encode_peer)->Name("records/candles/peer:zstd-3/encode")->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Name("records/candles/decode")->Unit(benchmark::kMillisecond);
BENCHMARK(decode_peer)->Name("records/candles/peer:zstd-3/decode")->Unit(benchmark::kMillisecond);
BENCHMARK(columns)->Name("records/candles/columns")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hoist::records
