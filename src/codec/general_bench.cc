// lz4 and zstd through codec/general.h beside the libraries called directly with buffers and
// contexts that are kept, on 1 MiB of text-like bytes. Bytes are raw ones.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <lz4.h>
#include <zstd.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/general.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kBlock = size_t{1} << 20;

// Words of a small vocabulary, frequent ones more often: about as compressible as a log.
Bytes text() {
  std::mt19937_64 random(1);
  std::vector<std::string> words(2000);
  for (std::string& word : words) {
    for (size_t i = 0; i < 2 + random() % 9; ++i) word += static_cast<char>('a' + random() % 26);
    word += ' ';
  }
  Bytes bytes;
  while (bytes.size() < kBlock) {
    const std::string& word = words[random() % (1 + random() % words.size())];
    for (const char c : word) bytes.push_back(static_cast<std::byte>(c));
  }
  bytes.resize(kBlock);
  return bytes;
}

void set_bytes(benchmark::State& state, size_t stored) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBlock));
  state.counters["ratio"] = static_cast<double>(kBlock) / static_cast<double>(stored);
}

void compress(benchmark::State& state, const Codec& codec) {
  const Bytes raw = text();
  size_t stored = 1;
  for (auto _ : state) {
    const Result<Bytes> bytes = codec.compress(raw, codec.default_level);
    if (!bytes) return state.SkipWithError(bytes.error().message.c_str());
    stored = bytes->size();
  }
  set_bytes(state, stored);
}

void decompress(benchmark::State& state, const Codec& codec) {
  const Bytes raw = text();
  const Bytes stored = *codec.compress(raw, codec.default_level);
  Bytes out(raw.size());
  for (auto _ : state) {
    if (!codec.decompress(stored, out)) return state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
  if (out != raw) return state.SkipWithError("decoded something else");
  set_bytes(state, stored.size());
}

char* chars(Bytes& bytes) { return reinterpret_cast<char*>(bytes.data()); }

void lz4_compress(benchmark::State& state) {
  Bytes raw = text();
  Bytes stored(LZ4_compressBound(kBlock));
  int size = 1;
  for (auto _ : state) {
    size = LZ4_compress_default(chars(raw), chars(stored), kBlock, static_cast<int>(stored.size()));
    benchmark::ClobberMemory();
  }
  set_bytes(state, size);
}

void lz4_decompress(benchmark::State& state) {
  Bytes stored = *codec_of(CodecId::lz4).compress(text(), 1);
  Bytes out(kBlock);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        LZ4_decompress_safe(chars(stored), chars(out), static_cast<int>(stored.size()), kBlock));
    benchmark::ClobberMemory();
  }
  set_bytes(state, stored.size());
}

void zstd_compress(benchmark::State& state) {
  const Bytes raw = text();
  Bytes stored(ZSTD_compressBound(kBlock));
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   ZSTD_freeCCtx);
  size_t size = 1;
  for (auto _ : state) {
    size = ZSTD_compressCCtx(context.get(), stored.data(), stored.size(), raw.data(), kBlock,
                             ZSTD_CLEVEL_DEFAULT);
    benchmark::ClobberMemory();
  }
  set_bytes(state, size);
}

void zstd_decompress(benchmark::State& state) {
  const Bytes stored = *codec_of(CodecId::zstd).compress(text(), ZSTD_CLEVEL_DEFAULT);
  Bytes out(kBlock);
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ZSTD_decompressDCtx(context.get(), out.data(), kBlock, stored.data(), stored.size()));
    benchmark::ClobberMemory();
  }
  set_bytes(state, stored.size());
}

const bool registered = [] {
  for (const CodecId id : {CodecId::lz4, CodecId::zstd}) {
    const Codec& codec = codec_of(id);
    benchmark::RegisterBenchmark(fmt::format("codec/general/{}_compress/hoist", codec.name).c_str(),
                                 [&codec](benchmark::State& state) { compress(state, codec); });
    benchmark::RegisterBenchmark(
        fmt::format("codec/general/{}_decompress/hoist", codec.name).c_str(),
        [&codec](benchmark::State& state) { decompress(state, codec); });
  }
  benchmark::RegisterBenchmark("codec/general/lz4_compress/peer:lz4", lz4_compress);
  benchmark::RegisterBenchmark("codec/general/lz4_decompress/peer:lz4", lz4_decompress);
  benchmark::RegisterBenchmark("codec/general/zstd_compress/peer:zstd", zstd_compress);
  benchmark::RegisterBenchmark("codec/general/zstd_decompress/peer:zstd", zstd_decompress);
  return true;
}();

}  // namespace
}  // namespace hoist::codec
