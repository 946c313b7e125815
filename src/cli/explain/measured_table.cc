#include "cli/explain/measured_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/tune/operations.h"
#include "placement/decision_table.h"
#include "placement/robust.h"

namespace hoist::cli {
namespace {

using Json = nlohmann::json;
using placement::DecisionTable;
using placement::MeasuredImplementation;
using placement::MeasuredVariant;
using placement::Point;
using placement::Residency;

const MeasuredTime* time_of(const MeasuredSize& size, const std::string& implementation) {
  const auto found = std::find_if(size.times.begin(), size.times.end(), [&](const auto& time) {
    return time.implementation == implementation;
  });
  return found != size.times.end() ? &*found : nullptr;
}

void judge(MeasuredSize& size, bool with_hoistd) {
  const MeasuredTime* best = nullptr;
  for (const MeasuredTime& time : size.times) {
    if (placement::needs_hoistd(time.implementation) && !with_hoistd) continue;
    if (best == nullptr || time.seconds < best->seconds) best = &time;
  }
  const MeasuredTime* const chosen = time_of(size, size.chosen);
  if (chosen == nullptr || best == nullptr || best->seconds <= 0) return;
  size.behind = chosen->seconds / best->seconds - 1;
  if (chosen != best) {
    size.uncertainty =
        chosen->seconds / best->seconds * std::hypot(chosen->uncertainty, best->uncertainty);
  }
}

bool has_implementation(const placement::Operation& operation, const std::string& name) {
  const auto& list = operation.implementations;
  return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
}

std::string show_behind(const MeasuredSize& size) {
  if (!size.behind) return "-";
  if (*size.behind == 0) return "0";
  return fmt::format("{:.1f} ± {:.1f} %", 100 * *size.behind, 100 * size.uncertainty);
}

}  // namespace

MeasuredTable measured_table(const placement::VariantHandle& variant,
                             const placement::Profile* profile, bool with_hoistd) {
  MeasuredTable table;
  table.name = variant.name();
  const MeasuredVariant* const measured =
      profile != nullptr ? profile->find(table.name, Residency::host) : nullptr;
  if (measured == nullptr) return table;
  table.cpus = profile->machine.cpus;
  table.with_hoistd = with_hoistd && !measured->rows_with_hoistd.empty();
  std::map<uint64_t, MeasuredSize> sizes;
  for (const MeasuredImplementation& one : measured->implementations) {
    if (!has_implementation(variant.operation(), one.name)) continue;  // cannot be chosen here
    table.implementations.push_back(one.name);
    for (const Point& point : one.points) {
      table.is_refined = table.is_refined || point.factor != 1;
      sizes[point.shape.bytes].times.push_back(
          {one.name, point.seconds * point.factor,
           placement::standard_error(point.noise, point.runs)});
    }
  }
  const DecisionTable decisions(variant, Residency::host, profile, table.cpus, table.with_hoistd);
  for (auto& [bytes, size] : sizes) {
    size.bytes = bytes;
    const placement::Choice& choice = decisions.find(bytes);
    size.chosen = variant.operation().implementations[choice.implementation].name;
    table.is_measured = choice.basis == placement::Basis::measured;  // all have one
    judge(size, table.with_hoistd);
    table.sizes.push_back(std::move(size));
  }
  return table;
}

void print_table(const MeasuredTable& table) {
  fmt::print("\n{}, ", table.name);
  if (table.sizes.empty()) {
    fmt::print("not measured: run `hoist tune --op {}`\n", table.name);
    return;
  }
  fmt::print("measured with {} CPU{}{}{} (* chosen{})\n{:>11}", table.cpus,
             table.cpus == 1 ? "" : "s", table.is_refined ? ", refined by real runs" : "",
             table.with_hoistd ? ", a hoistd answers" : "",
             table.is_measured ? "" : " by compiled-in default", "size");
  for (const std::string& name : table.implementations) fmt::print("{:>12}", name);
  fmt::print("  behind the fastest\n");
  for (const MeasuredSize& size : table.sizes) {
    fmt::print("{:>11}", show_size(size.bytes));
    for (const std::string& name : table.implementations) {
      const MeasuredTime* const time = time_of(size, name);
      const std::string text = time != nullptr ? show_seconds(time->seconds) : "-";
      fmt::print("{:>12}", (name == size.chosen ? "*" : "") + text);
    }
    fmt::print("  {}\n", show_behind(size));
  }
}

Json json_of(const MeasuredTable& table) {
  Json sizes = Json::array();
  for (const MeasuredSize& size : table.sizes) {
    Json seconds = Json::object();
    for (const MeasuredTime& time : size.times) seconds[time.implementation] = time.seconds;
    sizes.push_back({{"bytes", size.bytes},
                     {"choice", size.chosen},
                     {"seconds", std::move(seconds)},
                     {"behind", size.behind ? Json(*size.behind) : Json(nullptr)},
                     {"uncertainty", size.behind ? Json(size.uncertainty) : Json(nullptr)}});
  }
  return {{"name", table.name}, {"measured", table.is_measured}, {"refined", table.is_refined},
          {"cpus", table.cpus}, {"hoistd", table.with_hoistd},   {"sizes", std::move(sizes)}};
}

}  // namespace hoist::cli
