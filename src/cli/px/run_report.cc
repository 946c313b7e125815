#include "cli/px/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ir/arithmetic.h"

namespace hoist::cli {
namespace {

constexpr uint64_t kShown = 8;

std::string element_text(ir::Scalar type, const std::byte* data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(ir::bytes(type)));
  if (type == ir::Scalar::boolean) return bits != 0 ? "true" : "false";
  if (type == ir::Scalar::u64) return fmt::format("{}", bits);
  if (!ir::is_float(type)) return fmt::format("{}", ir::integer_of(type, bits));
  const double value = ir::real_of(type, bits);
  return type == ir::Scalar::f64 ? fmt::format("{}", value)
                                 : fmt::format("{}", static_cast<float>(value));
}

std::string first_elements(const px::HostArray& array, const px::HostMemory& memory) {
  std::string text =
      fmt::format("{}: {}[{}]", array.array.name, name(array.array.element), memory.length);
  const auto size = static_cast<size_t>(ir::bytes(array.array.element));
  for (uint64_t i = 0; i < std::min(memory.length, kShown); ++i) {
    text += ' ' + element_text(array.array.element, memory.bytes.data() + i * size);
  }
  return memory.length > kShown ? text + " …" : text;
}

bool goes_into_file(const px::HostArray& array, const std::vector<ArrayFileName>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const ArrayFileName& output) { return output.array == &array; });
}

void print_times(const px::HostReport& report, const RunTimes& times, const RunPlace& place) {
  if (!place.why.empty()) fmt::print("target auto: {}\n", place.why);
  fmt::print("on {}: compiling {:.3f} ms, copying {:.3f} ms\n", times.target,
             times.compile_milliseconds, report.copy_milliseconds);
  for (const px::HostReport::Launch& launch : report.launches) {
    fmt::print("  {}: {:.3f} ms, {} blocks of {} threads\n", launch.kernel, launch.milliseconds,
               launch.blocks, launch.threads);
  }
}

void print_json(const px::HostProgram& host, const RunValues& made,
                const std::vector<ArrayFileName>& outputs, const px::HostReport& report,
                const RunTimes& times, const RunPlace& place) {
  nlohmann::ordered_json json = {{"target", times.target},
                                 {"place", json_of(place)},
                                 {"compile_ms", times.compile_milliseconds},
                                 {"copy_ms", report.copy_milliseconds},
                                 {"launches", nlohmann::json::array()},
                                 {"arrays", nlohmann::json::array()}};
  for (const px::HostReport::Launch& launch : report.launches) {
    json["launches"].push_back(nlohmann::ordered_json{{"kernel", launch.kernel},
                                                      {"blocks", launch.blocks},
                                                      {"threads", launch.threads},
                                                      {"ms", launch.milliseconds}});
  }
  for (const px::HostArray& array : host.arrays) {
    if (array.is_allocated || !array.is_written) continue;
    nlohmann::ordered_json entry = {{"name", array.array.name},
                                    {"type", name(array.array.element)},
                                    {"elements", made.values.arrays.at(&array).length}};
    for (const ArrayFileName& output : outputs) {
      if (output.array == &array) entry["file"] = output.file;
    }
    json["arrays"].push_back(std::move(entry));
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void print_run(const PxRunOptions& options, const px::HostProgram& host, const RunValues& made,
               const std::vector<ArrayFileName>& outputs, const px::HostReport& report,
               const RunTimes& times, const RunPlace& place) {
  if (options.json) return print_json(host, made, outputs, report, times, place);
  for (const px::HostArray& array : host.arrays) {
    if (array.is_allocated || !array.is_written || goes_into_file(array, outputs)) continue;
    fmt::print("{}\n", first_elements(array, made.values.arrays.at(&array)));
  }
  if (options.time) print_times(report, times, place);
}

}  // namespace hoist::cli
