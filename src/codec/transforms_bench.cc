// Cosine and Walsh-Hadamard transforms on one core, beside what bounds them: KissFFT's bare complex
// transforms of as many values (two real sequences each), and a copy.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <kissfft/kiss_fft.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codec/dct.h"
#include "codec/walsh.h"

namespace hoist::codec {
namespace {

using Floats = std::vector<float>;

Floats random_floats(size_t size) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  Floats values(size);
  for (float& value : values) value = normal(random);
  return values;
}

void set_bytes(benchmark::State& state, size_t floats) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * floats * sizeof(float)));
}

// Many sequences, 64 Ki values in all. Transforms are rotations, so values stay of their size.
void dct(benchmark::State& state, size_t length) {
  const Dct plan = *Dct::create(length);
  Floats values = random_floats(std::max<size_t>(2, (size_t{1} << 16) / length) * length);
  for (auto _ : state) {
    if (!plan.forward(values)) return state.SkipWithError("refused");
  }
  set_bytes(state, values.size());
}

void kiss(benchmark::State& state, size_t length) {
  kiss_fft_state* plan = kiss_fft_alloc(static_cast<int>(length), 0, nullptr, nullptr);
  const size_t pairs = std::max<size_t>(1, (size_t{1} << 15) / length);
  std::vector<kiss_fft_cpx> from(pairs * length, kiss_fft_cpx{1, 2});
  std::vector<kiss_fft_cpx> to(from.size());
  for (auto _ : state) {
    for (size_t i = 0; i < pairs; ++i) kiss_fft(plan, &from[i * length], &to[i * length]);
    benchmark::ClobberMemory();
  }
  kiss_fft_free(plan);
  set_bytes(state, 2 * from.size());
}

void dct_2d(benchmark::State& state, size_t rows, size_t columns) {
  const Dct2d plan = *Dct2d::create(rows, columns);
  Floats values = random_floats(rows * columns);
  for (auto _ : state) {
    if (!plan.forward(values)) return state.SkipWithError("refused");
  }
  set_bytes(state, values.size());
}

void walsh(benchmark::State& state, size_t length) {
  Floats values = random_floats(length);
  for (auto _ : state) {
    if (!walsh_hadamard(values)) return state.SkipWithError("refused");
  }
  set_bytes(state, length);
}

void copy(benchmark::State& state, size_t length) {
  const Floats from(length, 1.0f);
  Floats to(length);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), length * sizeof(float));
    benchmark::ClobberMemory();
  }
  set_bytes(state, length);
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function) {
    benchmark::RegisterBenchmark(("codec/" + name).c_str(), function);
  };
  // 4099 is prime: Bluestein.
  for (const size_t n : {256, 4096, 65'536, 4099}) {
    add(fmt::format("dct/forward/{}", n), [=](benchmark::State& state) { dct(state, n); });
    if (n != 4099) {
      add(fmt::format("dct/peer:kissfft/{}", n), [=](benchmark::State& state) { kiss(state, n); });
    }
  }
  add("dct/forward/1024x1024", [](benchmark::State& state) { dct_2d(state, 1024, 1024); });
  add("dct/forward/1000x777", [](benchmark::State& state) { dct_2d(state, 1000, 777); });
  for (const int level : {8, 12, 16, 20, 24}) {
    const size_t n = size_t{1} << level;
    add(fmt::format("walsh/hadamard/{}", n), [=](benchmark::State& state) { walsh(state, n); });
    add(fmt::format("walsh/peer:memcpy/{}", n), [=](benchmark::State& state) { copy(state, n); });
  }
  return true;
}();

}  // namespace
}  // namespace hoist::codec
