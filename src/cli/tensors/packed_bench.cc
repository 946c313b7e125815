// `hoist tensors bench --packed`: products with packed weights beside the library's with plain ones
// on a GPU, in the same run; packing and unpacking on the CPU.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/threads.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "cli/tensors/packed_speed.h"
#include "tensors/packed/matmul.h"
#include "tensors/packed/pack.h"
#include "tensors/packed/random_weights.h"

namespace hoist::cli {
namespace {

namespace packed = tensors::packed;
using nlohmann::ordered_json;

// The layers that large models have, and smaller ones.
constexpr std::pair<uint32_t, uint32_t> kShapes[] = {{1024, 4096},  {4096, 4096}, {14336, 4096},
                                                     {4096, 14336}, {8192, 8192}, {28672, 8192},
                                                     {8192, 28672}};
constexpr uint64_t kCounts[] = {1, 4, 8, 16, 32, 64, 128};
constexpr uint32_t kCpuRows = 4096;
constexpr uint32_t kCpuColumns = 4096;
constexpr int kRounds = 3;

struct CpuLine {
  std::string name;
  double seconds;
  uint64_t bytes;  // of plain weights
};

// The fastest of a few rounds, of work that failed nothing.
Result<double> time(const std::function<Status()>& body) {
  double best = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    if (Status done = body(); !done) return done.error();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::min(best, seconds.count());
  }
  return best;
}

Result<std::vector<CpuLine>> measure_cpu() {
  const uint64_t weights = uint64_t{kCpuRows} * kCpuColumns;
  const std::vector<uint16_t> plain = packed::gaussian_weights(weights, 0.02F, 1);
  const packed::PlainMatrix matrix = {plain.data(), kCpuRows, kCpuColumns, kCpuColumns};
  std::vector<CpuLine> lines;
  const auto add = [&](std::string name, const std::function<Status()>& body) -> Status {
    const Result<double> seconds = time(body);
    if (!seconds) return seconds.error();
    lines.push_back({std::move(name), *seconds, 2 * weights});
    return {};
  };
  packed::Plan plan;
  Status done = add("plan", [&]() -> Status {
    Result<packed::Plan> made = packed::plan_packing(matrix);
    if (!made) return made.error();
    plan = std::move(*made);
    return {};
  });
  std::vector<std::byte> bytes(done ? plan.shape.bytes() : 0);
  if (done) done = add("pack", [&] { return packed::pack(matrix, plan, bytes); });
  if (!done) return done.error();
  const Result<packed::View> view = packed::view_of(bytes.data(), bytes.size(), plan.shape);
  if (!view) return view.error();
  std::vector<uint16_t> back(weights);
  done = add("unpack", [&] { return packed::unpack(*view, back); });
  std::vector<uint16_t> y(kCpuRows);
  if (done) {
    done = add("multiply by 1 row", [&] {
      return packed::matmul(*view, {plain.data(), 1, kCpuColumns, y.data(), kCpuRows});
    });
  }
  if (!done) return done.error();
  return lines;
}

struct GpuLine {
  uint32_t rows;
  uint32_t columns;
  double size;
  double unpack;
  uint64_t plain_bytes;
  std::vector<ProductTimes> times;  // of kCounts
};

Result<std::vector<GpuLine>> measure_gpu(device::Device& device) {
  const Result<device::Stream> stream = device::Stream::create(device);
  if (!stream) return stream.error();
  std::vector<GpuLine> lines;
  for (const auto& [rows, columns] : kShapes) {
    const Result<PackedSpeed> speed = PackedSpeed::prepare(*stream, rows, columns);
    if (!speed) return speed.error();
    GpuLine line = {rows, columns, speed->size(), 0, speed->plain_bytes(), {}};
    for (const uint64_t count : kCounts) {
      const Result<ProductTimes> times = speed->measure(count);
      if (!times) return times.error();
      line.times.push_back(*times);
    }
    const Result<double> unpack = speed->unpack();
    if (!unpack) return unpack.error();
    line.unpack = *unpack;
    lines.push_back(std::move(line));
  }
  return lines;
}

void print_text(const std::vector<CpuLine>& cpu, const std::string& gpu,
                const std::vector<GpuLine>& products) {
  fmt::print("on the CPU, {} threads, {} x {} weights\n", usable_cpus(), kCpuRows, kCpuColumns);
  for (const CpuLine& line : cpu) {
    fmt::print("  {:<20} {:>8.2f} GB/s of plain weights\n", line.name,
               static_cast<double>(line.bytes) / line.seconds / 1e9);
  }
  if (gpu.empty()) {
    fmt::print("no GPU answers: products are not measured\n");
    return;
  }
  fmt::print("on {}: microseconds packed, and how much faster than cuBLAS with plain weights\n",
             gpu);
  fmt::print("  {:<14} {:>7}", "shape", "size");
  for (const uint64_t count : kCounts) {
    fmt::print(" {:>16}", count == 1 ? "1 row" : fmt::format("{} rows", count));
  }
  fmt::print(" {:>14}\n", "unpack");
  for (const GpuLine& line : products) {
    fmt::print("  {:<14} {:>5.1f} %", fmt::format("{} x {}", line.rows, line.columns),
               100 * line.size);
    for (const ProductTimes& times : line.times) {
      fmt::print(" {:>9.1f} {:>5.2f}x", 1e6 * times.packed, times.plain / times.packed);
    }
    fmt::print(" {:>9.2f} TB/s\n", static_cast<double>(line.plain_bytes) / line.unpack / 1e12);
  }
}

void print_json(const std::vector<CpuLine>& cpu, const std::string& gpu,
                const std::vector<GpuLine>& products) {
  ordered_json all = {{"cpu", ordered_json::array()}};
  for (const CpuLine& line : cpu) {
    all["cpu"].push_back(
        {{"name", line.name},
         {"seconds", line.seconds},
         {"gigabytes_per_second", static_cast<double>(line.bytes) / line.seconds / 1e9}});
  }
  if (!gpu.empty()) {
    all["gpu"] = gpu;
    all["products"] = ordered_json::array();
  }
  for (const GpuLine& line : products) {
    for (size_t i = 0; i < line.times.size(); ++i) {
      all["products"].push_back({{"shape", {line.rows, line.columns}},
                                 {"rows_of_x", kCounts[i]},
                                 {"packed_seconds", line.times[i].packed},
                                 {"plain_seconds", line.times[i].plain},
                                 {"size", line.size},
                                 {"unpack_seconds", line.unpack}});
    }
  }
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

int tensors_packed_bench_command(const TensorsBenchOptions& options) {
  const Result<std::vector<CpuLine>> cpu = measure_cpu();
  if (!cpu) return report(cpu.error());
  std::string gpu;
  Result<std::vector<GpuLine>> products = std::vector<GpuLine>();
  if (const Result<device::Device*> device = device::cuda_device()) {
    gpu = (*device)->properties().name;
    products = measure_gpu(**device);
    if (!products) return report(products.error());
  }
  if (options.json) {
    print_json(*cpu, gpu, *products);
  } else {
    print_text(*cpu, gpu, *products);
  }
  return kDone;
}

}  // namespace hoist::cli
