// `hoist tensors info --packed`: what a model would take in memory with packed weights, found by
// planning each matrix, and what its products gain on this machine's GPU.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "cli/tensors/packed_speed.h"
#include "tensors/file/reader.h"
#include "tensors/model/model_source.h"
#include "tensors/packed/pack.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;
using nlohmann::ordered_json;

struct Line {
  std::string name;
  Shape shape;
  std::string reason;  // why it stays plain; empty: packed
  uint64_t plain_bytes = 0;
  uint64_t bytes = 0;  // in memory
  uint64_t escapes = 0;
};

struct Measured {
  size_t matrices = 0;
  std::map<uint64_t, ProductTimes> by_count;
};
using Extents = std::pair<uint32_t, uint32_t>;

struct Report {
  std::vector<Line> lines;
  std::string gpu;                    // empty: none
  std::map<Extents, Measured> speed;  // of packed shapes

  uint64_t sum(uint64_t Line::*of) const {
    uint64_t all = 0;
    for (const Line& line : lines) all += line.*of;
    return all;
  }
};

Line planned_line(std::string name, const Shape& shape, DType dtype,
                  std::span<const std::byte> bytes, bool is_number) {
  Line line = {std::move(name), shape, "no bfloat16 matrix", bytes.size(), bytes.size(), 0};
  if (dtype != DType::bf16 || shape.size() != 2 || !is_number) return line;
  if (!packed::check_extents(shape[0], shape[1])) return line;
  std::vector<uint16_t> weights(bytes.size() / 2);
  std::memcpy(weights.data(), bytes.data(), bytes.size());
  const Result<packed::Plan> plan = packed::plan_packing(
      {weights.data(), static_cast<uint32_t>(shape[0]), static_cast<uint32_t>(shape[1]), shape[1]});
  if (!plan) {
    line.reason = plan.error().message;
    return line;
  }
  const packed::Plainness found = packed::plainness(plan->shape, plan->most_in_row);
  line.escapes = plan->shape.escapes;
  line.reason = found == packed::Plainness::packed ? "" : packed::reason(found);
  if (line.reason.empty()) line.bytes = plan->shape.bytes();
  return line;
}

Result<std::vector<Line>> lines_of(const HoloTensorReader& reader) {
  std::vector<Line> lines;
  for (size_t i = 0; i < reader.header().tensors.size(); ++i) {
    const HoloTensor& tensor = reader.header().tensors[i];
    const Result<LoadedTensor> loaded = reader.decode(i, {}, {}, &ThreadPool::process());
    if (!loaded) return loaded.error();
    lines.push_back(planned_line(tensor.name, loaded->shape, loaded->dtype, loaded->bytes,
                                 tensor.stored_as.empty()));
  }
  return lines;
}

Result<std::vector<Line>> lines_of(const ModelSource& source) {
  std::vector<Line> lines;
  std::vector<std::byte> bytes;
  for (const ModelTensor& tensor : source.tensors()) {
    bytes.resize(tensor.bytes);
    if (Status read = source.read(tensor, bytes); !read) return read.error();
    lines.push_back(
        planned_line(tensor.name, tensor.shape, tensor.dtype, bytes, tensor.stored_as.empty()));
  }
  return lines;
}

Result<std::vector<Line>> lines_of(const std::string& path) {
  if (path.ends_with(".holo")) {
    const Result<HoloTensorReader> reader = HoloTensorReader::open(path);
    if (!reader) return reader.error();
    return lines_of(*reader);
  }
  const Result<ModelSource> source = ModelSource::open({path});
  if (!source) return source.error();
  return lines_of(*source);
}

// The speed of each shape, where a GPU answers; what cannot be measured is left out.
void measure(Report& report) {
  const Result<device::Device*> device = device::cuda_device();
  if (!device) return;
  const Result<device::Stream> stream = device::Stream::create(**device);
  if (!stream) return;
  report.gpu = (*device)->properties().name;
  for (const Line& line : report.lines) {
    if (!line.reason.empty()) continue;
    const Extents extents(line.shape[0], line.shape[1]);
    if (report.speed[extents].matrices++ != 0) continue;
    const Result<PackedSpeed> speed = PackedSpeed::prepare(*stream, extents.first, extents.second);
    if (!speed) continue;
    for (const uint64_t count : {1, 8, 16}) {
      if (const Result<ProductTimes> times = speed->measure(count)) {
        report.speed[extents].by_count[count] = *times;
      }
    }
  }
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void print_json(const std::string& file, const Report& report) {
  auto tensors = ordered_json::array();
  for (const Line& line : report.lines) {
    ordered_json json = {{"name", line.name},
                         {"shape", line.shape},
                         {"plain_bytes", line.plain_bytes},
                         {"bytes", line.bytes}};
    if (line.reason.empty()) {
      json["escapes"] = line.escapes;
    } else {
      json["plain_because"] = line.reason;
    }
    tensors.push_back(std::move(json));
  }
  ordered_json all = {{"file", file},
                      {"plain_bytes", report.sum(&Line::plain_bytes)},
                      {"bytes", report.sum(&Line::bytes)},
                      {"tensors", std::move(tensors)}};
  if (!report.gpu.empty()) all["gpu"] = report.gpu;
  auto products = ordered_json::array();
  for (const auto& [extents, measured] : report.speed) {
    for (const auto& [count, times] : measured.by_count) {
      products.push_back({{"shape", {extents.first, extents.second}},
                          {"matrices", measured.matrices},
                          {"rows_of_x", count},
                          {"packed_seconds", times.packed},
                          {"plain_seconds", times.plain}});
    }
  }
  if (!report.gpu.empty()) all["products"] = std::move(products);
  fmt::print("{}\n", all.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_speed(const Report& report) {
  if (report.gpu.empty()) return;
  fmt::print("\nproducts on {}, against plain weights in cuBLAS\n", report.gpu);
  fmt::print("{:<18} {:>8} {:>8} {:>8} {:>8}\n", "shape", "matrices", "1 row", "8 rows", "16 rows");
  for (const auto& [extents, measured] : report.speed) {
    fmt::print("{:<18} {:>8}", fmt::format("[{},{}]", extents.first, extents.second),
               measured.matrices);
    for (const auto& [count, times] : measured.by_count) {
      fmt::print(" {:>7.2f}x", times.plain / times.packed);
    }
    fmt::print("\n");
  }
}

void print_text(const std::string& file, const Report& report) {
  const uint64_t plain = report.sum(&Line::plain_bytes);
  const uint64_t bytes = report.sum(&Line::bytes);
  fmt::print("{}: {} bytes of tensors, {} with packed weights ({:.1f} %)\n", file, plain, bytes,
             100 * share(bytes, plain));
  fmt::print("{:<44} {:<18} {:>12} {:>8} {:>10}\n", "tensor", "shape", "bytes", "size", "escapes");
  for (const Line& line : report.lines) {
    const std::string shape = fmt::format("[{}]", fmt::join(line.shape, ","));
    if (line.reason.empty()) {
      fmt::print("{:<44} {:<18} {:>12} {:>6.1f} % {:>8.4f} %\n", line.name, shape, line.bytes,
                 100 * share(line.bytes, line.plain_bytes),
                 100 * share(line.escapes, line.plain_bytes / 2));
    } else {
      fmt::print("{:<44} {:<18} {:>12}  plain: {}\n", line.name, shape, line.bytes, line.reason);
    }
  }
  print_speed(report);
}

}  // namespace

int tensors_packed_command(const TensorsInfoOptions& options) {
  Result<std::vector<Line>> lines = lines_of(options.file);
  if (!lines) return hoist::cli::report(lines.error());
  Report report;
  report.lines = std::move(*lines);
  measure(report);
  if (options.json) {
    print_json(options.file, report);
  } else {
    print_text(options.file, report);
  }
  return kDone;
}

}  // namespace hoist::cli
