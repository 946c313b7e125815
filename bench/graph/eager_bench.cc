// Single operations on one thread, without Python: kernels by themselves, through the C library,
// and on arrays larger than all caches beside memcpy().
//
//   graph_eager_bench            JSON: nanoseconds of 1000 elements, GB/s of 10^7, GFLOP/s of
//   products
//
// Times are the least of many short rounds: what a call takes when nothing else runs.
#include <fmt/core.h>
#include <hologram_ffi.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "graph/ops/ops.h"
#include "graph/ops/product.h"

namespace {

using hoist::graph::Binary;
using hoist::graph::ProductShape;
using hoist::graph::Unary;
using Clock = std::chrono::steady_clock;

// Seconds of a call of run().
template <typename Run>
double least_time(int rounds, int calls, const Run& run) {
  run();
  double least = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    for (int call = 0; call < calls; ++call) {
      run();
      asm volatile("" ::: "memory");
    }
    const std::chrono::duration<double> passed = Clock::now() - begin;
    least = std::min(least, passed.count() / calls);
  }
  return least;
}

struct Names {
  const char* name;
  Unary operation;
};
constexpr Names kFunctions[] = {{"relu", Unary::frelu},
                                {"sigmoid", Unary::sigmoid},
                                {"tanh", Unary::tanh},
                                {"gelu", Unary::gelu_tanh},
                                {"softmax", Unary::softmax}};

class Report {
 public:
  void add(const std::string& name, double value) {
    text_ += fmt::format("{}\n  \"{}\": {:.4g}", text_.empty() ? "" : ",", name, value);
  }
  void print() const { fmt::print("{{{}\n}}\n", text_); }

 private:
  std::string text_;
};

void measure_small(Report& report) {
  const size_t n = 1000;
  const uint64_t executor = hologram_new_executor();
  uint64_t buffers[3];
  float* data[3];
  for (size_t i = 0; i < 3; ++i) {
    buffers[i] = hologram_executor_allocate_buffer(executor, n);
    data[i] = hologram_buffer_data(executor, buffers[i]);
    for (size_t k = 0; k < n; ++k) data[i][k] = static_cast<float>(k % 7) - 3.0f;
  }
  const auto nanoseconds = [](const auto& run) { return 1e9 * least_time(2000, 100, run); };
  report.add("C++ add, 1000, ns",
             nanoseconds([&] { hoist::graph::apply(Binary::add, data[0], data[1], data[2], n); }));
  report.add("C++ mul, 1000, ns", nanoseconds([&] {
               hoist::graph::apply(Binary::multiply, data[0], data[1], data[2], n);
             }));
  for (const Names& each : kFunctions) {
    report.add(fmt::format("C++ {}, 1000, ns", each.name),
               nanoseconds([&] { hoist::graph::apply(each.operation, data[0], data[2], n); }));
  }
  report.add("C add, 1000, ns", nanoseconds([&] {
               hologram_vector_add_f32(executor, buffers[0], buffers[1], buffers[2], n);
             }));
  report.add("C relu, 1000, ns",
             nanoseconds([&] { hologram_vector_relu_f32(executor, buffers[0], buffers[2], n); }));
  // From here on handles are pinned by atomic operations.
  std::thread([] {}).join();
  std::thread other([] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  report.add("C add, a process with threads, 1000, ns", nanoseconds([&] {
               hologram_vector_add_f32(executor, buffers[0], buffers[1], buffers[2], n);
             }));
  other.join();
}

void measure_large(Report& report) {
  const size_t n = 10'000'000;
  std::vector<float> a(n, 1.0f);
  std::vector<float> b(n, 2.0f);
  std::vector<float> c(n, 3.0f);
  const auto rate = [&](double arrays, const auto& run) {
    return arrays * n * sizeof(float) / least_time(40, 1, run) / 1e9;
  };
  report.add("memcpy, 10^7, GB/s",
             rate(2, [&] { std::memcpy(c.data(), a.data(), n * sizeof(float)); }));
  report.add("add, 10^7, GB/s",
             rate(3, [&] { hoist::graph::apply(Binary::add, a.data(), b.data(), c.data(), n); }));
  report.add("relu, 10^7, GB/s",
             rate(2, [&] { hoist::graph::apply(Unary::frelu, a.data(), c.data(), n); }));
  report.add("tanh, 10^7, GB/s",
             rate(2, [&] { hoist::graph::apply(Unary::tanh, a.data(), c.data(), n); }));
  volatile float kept = 0;
  report.add("sum, 10^7, GB/s", rate(1, [&] { kept = hoist::graph::sum(a.data(), n); }));
}

void measure_products(Report& report) {
  for (const size_t n : {8, 16, 32, 64, 128, 256, 512, 1024}) {
    std::vector<float> a(n * n, 0.5f);
    std::vector<float> b(n * n, 0.25f);
    std::vector<float> c(n * n);
    const int calls = static_cast<int>(std::max<size_t>(1, 2'000'000 / (n * n * n)));
    const double seconds = least_time(30, calls, [&] {
      hoist::graph::multiply(ProductShape::dense(n, n, n), a.data(), b.data(), c.data());
    });
    report.add(fmt::format("product of {0} x {0}, GFLOP/s", n),
               2.0 * static_cast<double>(n * n * n) / seconds / 1e9);
  }
}

}  // namespace

int main() {
  Report report;
  measure_small(report);
  measure_large(report);
  measure_products(report);
  report.print();
}
