// qsort/TYPE/cuda/BYTES: arrays of numbers in host memory, sorted by the GPU as programs reach it
// (HOIST_GPU), beside the CPU's radix sort. Every run begins with a copy of the unsorted array.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "ops/qsort/operation.h"
#include "takeover/gpu_hint.h"

namespace hoist::qsort {
namespace {

void measure(benchmark::State& state, size_t variant, size_t implementation) {
  if (!hoist_gpu_may_serve()) return state.SkipWithError("no GPU to compare with");
  const placement::Operation all = operation();
  const auto bytes = static_cast<uint64_t>(state.range(0));
  const Result<placement::Run> run = all.prepare(variant, {bytes, 1}, "");
  if (!run) return state.SkipWithError(run.error().message.c_str());
  for (auto _ : state) {
    if (const Status done = (*run)(implementation); !done) {
      state.SkipWithError(done.error().message.c_str());
      break;
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
}

const bool kRegistered = [] {
  const placement::Operation all = operation();
  for (size_t variant = 0; variant < all.variants.size(); ++variant) {
    for (size_t one = 0; one < all.implementations.size(); ++one) {
      const std::string& name = all.implementations[one].name;
      auto* const benchmark = benchmark::RegisterBenchmark(
          ("qsort/" + all.variants[variant].name + (name == "cuda" ? "/cuda" : "/peer:" + name))
              .c_str(),
          [=](benchmark::State& state) { measure(state, variant, one); });
      for (int64_t bytes = int64_t{1} << 20; bytes <= int64_t{1} << 30; bytes *= 4) {
        benchmark->Arg(bytes);
      }
      benchmark->UseRealTime()->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::qsort
