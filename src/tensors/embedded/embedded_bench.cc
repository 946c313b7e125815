// The Embedded encoding on one core, beside zstd on the same weights: Gaussian ones, scale 0.02.
// Bytes are those of weights; the counter `size_%` is what is stored of them.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "codec/general.h"
#include "tensors/embedded/embedded.h"
#include "tensors/embedded/embedded_testing.h"

namespace hoist::tensors {
namespace {

constexpr size_t kBytes = size_t{32} << 20;

const std::vector<std::byte>& weights(DType dtype) {
  static std::map<DType, std::vector<std::byte>> made;
  std::vector<std::byte>& bytes = made[dtype];
  if (bytes.empty()) {
    std::mt19937_64 random(1);
    bytes = gaussian(dtype, kBytes / properties(dtype).bytes, 0.02, random);
  }
  return bytes;
}

EncodedTensor encoded_weights(DType dtype) {
  const std::vector<std::byte>& bytes = weights(dtype);
  const uint64_t count = bytes.size() / properties(dtype).bytes;
  return embedded_encode({.dtype = dtype, .shape = {count}, .bytes = bytes}).value().value();
}

void report(benchmark::State& state, size_t stored) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBytes));
  state.counters["size_%"] = 100 * static_cast<double>(stored) / kBytes;
}

void encode(benchmark::State& state, DType dtype) {
  weights(dtype);
  size_t stored = 0;
  for (auto _ : state) {
    const EncodedTensor encoded = encoded_weights(dtype);
    stored = encoded.description.parameters.size();
    for (const auto& part : encoded.parts) stored += part.size();
  }
  report(state, stored);
}

void decode(benchmark::State& state, DType dtype, size_t planes) {
  const EncodedTensor encoded = encoded_weights(dtype);
  planes = std::min(planes, encoded.parts.size() - 1);
  const auto decoder = embedded_decoder(encoded.description).value();
  size_t stored = encoded.description.parameters.size();
  for (size_t part = 0; part <= planes; ++part) {
    if (!decoder->add(part, encoded.parts[part])) return state.SkipWithError("refused");
    stored += encoded.parts[part].size();
  }
  std::vector<std::byte> out(kBytes);
  for (auto _ : state) {
    if (!decoder->reconstruct(out)) return state.SkipWithError("corrupt");
    benchmark::ClobberMemory();
  }
  state.counters["quality"] = decoder->quality();
  report(state, stored);
}

void zstd_compress(benchmark::State& state, DType dtype) {
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  size_t stored = 0;
  for (auto _ : state) stored = zstd.compress(weights(dtype), zstd.default_level)->size();
  report(state, stored);
}

void zstd_decompress(benchmark::State& state, DType dtype) {
  const codec::Codec& zstd = codec::codec_of(codec::CodecId::zstd);
  const std::vector<std::byte> stored = *zstd.compress(weights(dtype), zstd.default_level);
  std::vector<std::byte> out(kBytes);
  for (auto _ : state) {
    if (!zstd.decompress(stored, out)) return state.SkipWithError("corrupt");
    benchmark::ClobberMemory();
  }
  report(state, stored.size());
}

const int registered = [] {
  constexpr size_t kAll = 99;
  for (const DType dtype : kEmbeddedTypes) {
    const auto add = [&](const char* direction, const std::string& what, auto... run) {
      const std::string name =
          fmt::format("tensors/embedded/{}/{}/{}", direction, what, properties(dtype).name);
      benchmark::RegisterBenchmark(name.c_str(), run...);
    };
    add("encode", "hoist", encode, dtype);
    add("encode", "peer:zstd", zstd_compress, dtype);
    add("decode", "layers:all", decode, dtype, kAll);
    add("decode", "peer:zstd", zstd_decompress, dtype);
    if (dtype != DType::bf16) continue;
    for (const size_t planes : {0, 1, 3}) {
      add("decode", fmt::format("layers:{}", planes + 1), decode, dtype, planes);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace hoist::tensors
