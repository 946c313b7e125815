#include "cli/tune/operations.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "ops/aes/operation.h"
#include "ops/crc32/operation.h"
#include "ops/gemm/operation.h"
#include "ops/gunzip/operation.h"
#include "ops/hash/operation.h"
#include "ops/qsort/operation.h"
#include "ops/sort/operation.h"
#include "px/place/operation.h"

namespace hoist::cli {

using placement::VariantHandle;

Status register_operations(placement::Registry& registry) {
  std::error_code error;
  const std::string folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (auto& operation :
       {sort::operation(folder + "/hoist-sort"), hash::operation(folder + "/hoist-hash"),
        gunzip::operation(folder + "/hoist-gunzip"), gemm::operation(), qsort::operation(),
        aes::operation(), crc32::operation(), px::operation(folder + "/hoist-px")}) {
    if (Status status = registry.add(operation); !status) return status;
  }
  return {};
}

Result<std::vector<const VariantHandle*>> select_variants(const placement::Registry& registry,
                                                          const std::string& name) {
  std::vector<const VariantHandle*> selected;
  std::string known;
  for (const VariantHandle* variant : registry.variants()) {
    const bool is_meant =
        name.empty() || name == variant->name() || name == variant->operation().name;
    if (is_meant) selected.push_back(variant);
    known += (known.empty() ? "" : ", ") + variant->name();
  }
  if (!selected.empty()) return selected;
  return fail(ErrorCode::invalid_argument,
              fmt::format("no such operation ({}): there are {}", name, known));
}

std::string show_size(uint64_t bytes) {
  if (bytes == UINT64_MAX) return "never";
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  const bool is_whole = value == std::floor(value) || unit == 0;
  return fmt::format("{:.{}f} {}", value, is_whole || value >= 100 ? 0 : 1, kUnits[unit]);
}

std::string show_choices(const std::vector<placement::Interval>& intervals) {
  std::string text;
  for (const placement::Interval& interval : intervals) {
    text += interval.from == 0
                ? interval.implementation
                : fmt::format(", {} from {}", interval.implementation, show_size(interval.from));
  }
  return text;
}

std::string show_seconds(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return seconds < 1000 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

}  // namespace hoist::cli
