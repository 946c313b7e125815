#include "placement/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/threads.h"

namespace hoist::placement {
namespace {

constexpr size_t kSmallFile = 1u << 20;

// The value behind "KEY:" (blanks allowed between) of the first such line; empty: none.
std::string field_of(const std::string& path, std::string_view key) {
  const Result<std::string> text = read_file(path, kSmallFile);
  if (!text) return {};
  for (size_t start = 0; start < text->size();) {
    const size_t end = std::min(text->find('\n', start), text->size());
    const std::string_view line = std::string_view(*text).substr(start, end - start);
    start = end + 1;
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string_view::npos) continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string_view::npos ? std::string() : std::string(line.substr(value));
  }
  return {};
}

// The kernel driver tells without being woken: cuInit would cost tens of milliseconds.
std::string gpu_models(const std::string& root) {
  std::error_code error;
  std::set<std::string> models;  // of several equal ones the name is enough
  for (const auto& entry :
       std::filesystem::directory_iterator(root + "/proc/driver/nvidia/gpus", error)) {
    models.insert(field_of(entry.path().string() + "/information", "Model"));
  }
  std::string list;
  for (const std::string& model : models) list += (list.empty() ? "" : ", ") + model;
  return list;
}

}  // namespace

bool Machine::is_served_by(const Machine& profiled) const {
  return cpu == profiled.cpu && gpu == profiled.gpu && driver == profiled.driver &&
         version == profiled.version;
}

Machine this_machine(const std::string& root) {
  return {field_of(root + "/proc/cpuinfo", "model name"), gpu_models(root),
          field_of(root + "/proc/driver/nvidia/version", "NVRM version"), usable_cpus(),
          HOIST_VERSION};
}

const MeasuredImplementation* MeasuredVariant::find(std::string_view implementation) const {
  for (const MeasuredImplementation& one : implementations) {
    if (one.name == implementation) return &one;
  }
  return nullptr;
}

const Row* MeasuredVariant::row_for(int cpus, bool with_hoistd) const {
  const Row* best = nullptr;
  for (const Row& row : with_hoistd && !rows_with_hoistd.empty() ? rows_with_hoistd : rows) {
    if (row.cpus <= std::max(cpus, 1)) best = &row;
  }
  return best;
}

const MeasuredVariant* Profile::find(std::string_view variant, Residency residency) const {
  for (const MeasuredVariant& one : variants) {
    if (one.name == variant && one.residency == residency) return &one;
  }
  return nullptr;
}

}  // namespace hoist::placement
