// Any-subset encodings of a 4096 x 4096 matrix, at one thread and two; bytes of the tensor a
// second. Encoding measures the quality of every prefix, which is most of its time.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <random>
#include <string>
#include <vector>

#include "tensors/transform/transform.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kSide = 4096;
constexpr uint32_t kFragments = 8;

std::vector<std::byte> random_bytes(DType dtype) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> values(kSide * kSide);
  for (float& value : values) value = normal(random);
  std::vector<std::byte> bytes(values.size() * properties(dtype).bytes);
  (void)from_f32(values, dtype, bytes);
  return bytes;
}

EncodeOptions options_for(HolographicEncoding encoding) {
  EncodeOptions options;
  options.encoding = encoding;
  options.fragments = kFragments;
  options.max_rank = 64;
  return options;
}

void encode(benchmark::State& state, HolographicEncoding encoding, DType dtype, int threads) {
  const std::vector<std::byte> bytes = random_bytes(dtype);
  ThreadPool pool(threads);
  for (auto _ : state) {
    const auto encoded =
        transform_encode({dtype, {kSide, kSide}, bytes}, options_for(encoding), &pool);
    if (!encoded) return state.SkipWithError("refused");
    state.counters["quality"] = encoded->description.curve.prefixes.back().quality;
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}

void decode(benchmark::State& state, HolographicEncoding encoding, DType dtype, int threads) {
  const std::vector<std::byte> bytes = random_bytes(dtype);
  ThreadPool pool(threads);
  const auto encoded =
      transform_encode({dtype, {kSide, kSide}, bytes}, options_for(encoding), &pool);
  if (!encoded) return state.SkipWithError("refused");
  std::vector<std::byte> out(bytes.size());
  for (auto _ : state) {
    auto decoder = transform_decoder(encoded->description);
    for (size_t f = 0; f < kFragments; ++f) (void)(*decoder)->add(f, encoded->parts[f]);
    if (!(*decoder)->reconstruct(out, &pool)) return state.SkipWithError("refused");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}

const bool registered = [] {
  struct Named {
    const char* name;
    HolographicEncoding encoding;
  };
  for (const Named& named : {Named{"spectral", HolographicEncoding::spectral},
                             {"projection", HolographicEncoding::random_projection},
                             {"low_rank_64", HolographicEncoding::low_rank_distributed}}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const int threads : {1, 2}) {
        const std::string end =
            fmt::format("{}/{}/threads:{}", named.name, properties(dtype).name, threads);
        const auto add = [&](const char* what, auto function) {
          benchmark::RegisterBenchmark(
              fmt::format("tensors/transform/{}/{}", what, end).c_str(),
              [=](benchmark::State& state) { function(state, named.encoding, dtype, threads); })
              ->UseRealTime()
              ->Unit(benchmark::kMillisecond);
        };
        add("encode", encode);
        add("decode", decode);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::tensors
