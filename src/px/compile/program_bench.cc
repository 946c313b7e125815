// Kernels on the CPU beside the same loops written by hand in C++, compiled with the same options;
// on one core where HOIST_THREADS=1.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <functional>
#include <memory>

#include "base/file.h"
#include "base/threads.h"
#include "ir/testing.h"
#include "px/compile/cpp_compiler.h"
#include "px/compile/cpu_module.h"
#include "px/program.h"

namespace hoist::px {
namespace {

using ir::Argument;
using ir::Builtin;
using ir::Direction;
using ir::Id;
using ir::Scalar;
using ir::Term;
using ir::TestKernel;

// y = f(x) for n elements; `a` is a factor.
ir::Module elementwise(const std::function<Term(TestKernel&, Term x, Term y, Term a)>& f) {
  ir::Module module("bench.px");
  TestKernel k(module, "k");
  const ir::Array* x = k.array("x", Scalar::f32, Direction::in);
  const ir::Array* y = k.array("y", Scalar::f32, Direction::inout);
  const Term a = k.scalar("a", Scalar::f32);
  const Term n = k.scalar("n", Scalar::i32);
  const Term tid = k.let("tid", k.id(Id::thread));
  k.when(tid < n);
  k.put(y, tid, f(k, k.let("v", k.load(x, tid)), k.load(y, tid), a));
  k.finish();
  return module;
}

ir::Module saxpy() {
  return elementwise([](TestKernel&, Term x, Term y, Term a) { return a * x + y; });
}
ir::Module gelu() {
  return elementwise([](TestKernel&, Term x, Term, Term) {
    const Term inner = (x + x * x * x * 0.044715) * 0.7978845608;
    return x * 0.5 * (ir::call(Builtin::tanh, {inner}) + 1);
  });
}

constexpr const char* kByHand = R"(
#include <cmath>
extern "C" void saxpy(const float* __restrict x, float* __restrict y, float a, int n) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
extern "C" void gelu(const float* __restrict x, float* __restrict y, float, int n) {
  for (int i = 0; i < n; ++i) {
    const float v = x[i];
    y[i] = v * 0.5f * (1.0f + std::tanh((v + v * v * v * 0.044715f) * 0.7978845608f));
  }
}
)";

using ByHand = void(const float* x, float* y, float a, int n);

ByHand* by_hand(const char* name) {
  static void* const library = [] {
    const std::string path = fmt::format("/tmp/hoist-px-bench-{}.so", ::getpid());
    const auto code =
        compile_shared(find_cpp_compiler().value(), kByHand, kernel_options()).value();
    const std::string_view bytes(reinterpret_cast<const char*>(code.data()), code.size());
    (void)write_file_atomically(path, bytes);
    void* const loaded = ::dlopen(path.c_str(), RTLD_NOW);
    ::unlink(path.c_str());
    return loaded;
  }();
  return reinterpret_cast<ByHand*>(::dlsym(library, name));
}

struct Data {
  explicit Data(size_t n) : x(n), y(n) {
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 1000) / 200 - 2.5F;
  }
  std::vector<float> x, y;
};

void report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// The compiled kernel alone, without a stream.
void px(benchmark::State& state, ir::Module (*make)()) {
  const ir::Module module = make();
  const auto compiled = CpuModule::compile(emit_cpp(module, false));
  if (!compiled) return state.SkipWithError(compiled.error().message.c_str());
  CpuKernel* const kernel = (*compiled)->kernel(cpp_entry_name(*module.find_kernel("k")));
  Data data(static_cast<size_t>(state.range(0)));
  const auto n = static_cast<uint32_t>(data.x.size());
  const Argument arguments[] = {
      Argument::array(data.x.data(), n), Argument::array(data.y.data(), n),
      Argument::scalar(std::bit_cast<uint32_t>(2.0F)), Argument::scalar(n)};
  const ir::Grid grid = {.blocks = {(n + 255) / 256, 1, 1}, .threads = {256, 1, 1}};
  for (auto _ : state) run_on_cpu(kernel, grid, arguments, nullptr);
  report(state);
}

void hand(benchmark::State& state, const char* name) {
  ByHand* const function = by_hand(name);
  Data data(static_cast<size_t>(state.range(0)));
  const size_t n = data.x.size();
  const auto parts = static_cast<size_t>(ThreadPool::process().size());
  for (auto _ : state) {
    ThreadPool::process().parallel_for(parts, [&](size_t part) {
      const size_t begin = n * part / parts;
      function(data.x.data() + begin, data.y.data() + begin, 2,
               static_cast<int>(n * (part + 1) / parts - begin));
    });
    benchmark::ClobberMemory();
  }
  report(state);
}

constexpr int64_t kCached = 1 << 16;
constexpr int64_t kLarge = 1 << 24;
BENCHMARK_CAPTURE(px, saxpy, saxpy)->Arg(kCached)->Arg(kLarge)->UseRealTime();
BENCHMARK_CAPTURE(hand, saxpy, "saxpy")->Arg(kCached)->Arg(kLarge)->UseRealTime();
BENCHMARK_CAPTURE(px, gelu, gelu)->Arg(kCached)->Arg(kLarge)->UseRealTime();
BENCHMARK_CAPTURE(hand, gelu, "gelu")->Arg(kCached)->Arg(kLarge)->UseRealTime();

// What a launch costs, there and back.
void launch(benchmark::State& state) {
  const Program program = Program::build(saxpy(), {.target = Target::cpu}).value();
  device::Stream stream = device::Stream::create(program.device()).value();
  float one = 1;
  float other = 1;
  const Argument arguments[] = {Argument::array(&one, 1), Argument::array(&other, 1),
                                Argument::scalar(0), Argument::scalar(1)};
  for (auto _ : state) {
    (void)program.launch(stream, *program.find_kernel("k"), {}, arguments);
    (void)stream.synchronize();
  }
}
BENCHMARK(launch)->UseRealTime();

// What a program costs until it can be launched: compiled, and from the cache.
void build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Program::build(gelu(), {.target = Target::cpu}));
}
BENCHMARK(build)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hoist::px
