// gemm/TYPE/EXTENT: square products from host memory and back, on the GPU (in this process and
// through hoistd, see HOIST_GPU) and by the machine's BLAS.
#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "ops/gemm/plan.h"
#include "ops/gemm/program_blas.h"
#include "ops/gemm/session.h"
#include "ops/gemm/square_product.h"
#include "takeover/gpu_hint.h"

namespace hoist::gemm {
namespace {

template <typename Run>
void measure(benchmark::State& state, char type, Run run) {
  const SquareProduct product(type, state.range(0));
  for (auto _ : state) {
    if (const Status done = run(product.call()); !done) {
      state.SkipWithError(done.error().message.c_str());
      break;
    }
  }
  state.SetBytesProcessed(
      static_cast<int64_t>(state.iterations() * transfer_bytes(product.call())));
  state.counters["flop/s"] =
      benchmark::Counter(operation_count(product.call()) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void gpu(benchmark::State& state, char type) {
  if (!hoist_gpu_may_serve()) return state.SkipWithError("no GPU");
  const Result<std::shared_ptr<Session>> session = Session::get(std::chrono::seconds(5));
  if (!session) return state.SkipWithError(session.error().message.c_str());
  measure(state, type, [&](const hoist_blas_call& call) { return (*session)->run(call); });
}

// Beside the GPU only: the largest products would take the reference BLAS hours.
void blas(benchmark::State& state, char type) {
  if (!hoist_gpu_may_serve()) return state.SkipWithError("no GPU to compare with");
  const Result<const ProgramBlas*> original = ProgramBlas::get();
  if (!original) return state.SkipWithError(original.error().message.c_str());
  measure(state, type, [&](const hoist_blas_call& call) { return (*original)->run(call); });
}

const bool kRegistered = [] {
  for (const char* type : {"s", "d", "c", "z"}) {
    const std::string name = std::string("gemm/") + type;
    for (const auto& [suffix, function] : {std::pair("", &gpu), std::pair("_blas", &blas)}) {
      auto* const benchmark =
          benchmark::RegisterBenchmark((name + suffix).c_str(), function, *type);
      for (int64_t extent = 256; extent <= 8192; extent *= 2) benchmark->Arg(extent);
      if (*type == 's') benchmark->Arg(16384);
      benchmark->UseRealTime()->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace hoist::gemm
