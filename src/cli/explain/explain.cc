#include "cli/explain/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/load.h"
#include "cli/explain/measured_table.h"
#include "cli/explain/plot.h"
#include "cli/explain/report_data.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "cli/tune/operations.h"
#include "device/remote/lent_device.h"
#include "placement/certainty.h"
#include "placement/choose.h"
#include "placement/profile_file.h"
#include "placement/rows_json.h"

namespace hoist::cli {
namespace {

using Json = nlohmann::json;
using placement::VariantHandle;

Result<std::vector<uint64_t>> parse_sizes(const std::vector<std::string>& words) {
  if (words.empty()) return std::vector<uint64_t>{64 << 10, 1 << 20, 16 << 20, 256 << 20};
  std::vector<uint64_t> sizes;
  for (const std::string& word : words) {
    const Result<uint64_t> size = parse_size(word);
    if (!size) return size.error();
    sizes.push_back(*size);
  }
  return sizes;
}

void print_variant(const VariantReport& report) {
  fmt::print("\n{}, {} CPU{} free\n", report.name, report.cpus, report.cpus == 1 ? "" : "s");
  std::string choices = show_choices(report.choices);
  if (report.uncertainty > placement::kBusy) {
    choices += fmt::format("  (measured on a busy machine, ±{:.0f} %)", 100 * report.uncertainty);
  }
  fmt::print("  choice: {}\n", choices);
  if (!report.note.empty()) fmt::print("  {}\n", report.note);
  if (!report.choices_with_hoistd.empty()) {
    fmt::print("  while a hoistd answers ({}): {}\n", report.with_hoistd ? "one does" : "none does",
               show_choices(report.choices_with_hoistd));
  }
  for (const SizeReport& size : report.sizes) {
    fmt::print("  {:>9}  {:<9}", show_size(size.bytes), size.chosen);
    for (const Prediction& one : size.predictions) {
      const char* mark = size.extrapolated ? "~" : "";
      fmt::print("  {} {}", one.implementation,
                 std::isfinite(one.seconds) ? mark + show_seconds(one.seconds) : "-");
    }
    fmt::print("  ({})\n", size.reason);
  }
  const auto is_extrapolated = [](const SizeReport& size) {
    return size.extrapolated && !size.predictions.empty();
  };
  if (std::any_of(report.sizes.begin(), report.sizes.end(), is_extrapolated)) {
    fmt::print("  ~ extrapolated: the size lies outside those that were measured\n");
  }
}

Json json_of(const VariantReport& report) {
  Json sizes = Json::array();
  for (const SizeReport& size : report.sizes) {
    Json seconds = Json::object();
    for (const Prediction& one : size.predictions) {
      seconds[one.implementation] = std::isfinite(one.seconds) ? Json(one.seconds) : Json(nullptr);
    }
    sizes.push_back({{"bytes", size.bytes},
                     {"choice", size.chosen},
                     {"reason", size.reason},
                     {"extrapolated", size.extrapolated},
                     {"seconds", std::move(seconds)}});
  }
  Json json = {{"name", report.name},
               {"measured", report.measured},
               {"uncertainty", report.uncertainty},
               {"cpus", report.cpus},
               {"hoistd", report.with_hoistd},
               {"choices", placement::json_of(report.choices)},
               {"sizes", std::move(sizes)}};
  if (!report.note.empty()) json["note"] = report.note;
  if (!report.choices_with_hoistd.empty()) {
    json["choices_with_hoistd"] = placement::json_of(report.choices_with_hoistd);
  }
  return json;
}

template <typename T>
Json json_list(const std::vector<T>& parts) {
  Json list = Json::array();
  for (const T& part : parts) list.push_back(json_of(part));
  return list;
}

void print_json(const placement::LoadedProfile& loaded, Json variants) {
  Json json = {{"profile", loaded.profile() != nullptr}, {"why", loaded.why}};
  if (loaded.profile() != nullptr) {
    const placement::Machine& machine = loaded.profile()->machine;
    json["machine"] = {{"cpu", machine.cpu}, {"gpu", machine.gpu}, {"driver", machine.driver}};
  }
  json["variants"] = std::move(variants);
  fmt::print("{}\n", json.dump(2, ' ', true, Json::error_handler_t::replace));
}

Status write_plot(const ExplainOptions& options, std::vector<VariantReport> reports,
                  const placement::Operation& operation, const placement::Profile* profile) {
  std::erase_if(reports, [](const VariantReport& report) { return report.curves.empty(); });
  if (profile == nullptr || reports.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("nothing is measured to plot ({0}): run `hoist tune --op {0}`",
                            operation.name));
  }
  return write_output(options.plot, plot_svg(reports, operation, *profile),
                      output_rule(options.force));
}

}  // namespace

Result<uint64_t> parse_size(const std::string& text) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument,
                fmt::format("not a size ({}): write 65536, 64K, 1M or 2G", text));
  };
  size_t at = 0;
  uint64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    const auto digit = static_cast<uint64_t>(text[at] - '0');
    if (value > (UINT64_MAX - digit) / 10) return refuse();
    value = value * 10 + digit;
  }
  if (at == 0) return refuse();
  std::string suffix = text.substr(at);
  if (suffix.size() == 3 && suffix.ends_with("iB")) suffix.resize(1);
  constexpr std::string_view kUnits = "BKMGT";
  size_t unit = 0;
  if (!suffix.empty()) {
    unit = suffix.size() == 1 ? kUnits.find(static_cast<char>(suffix[0] & ~0x20))
                              : std::string_view::npos;
    if (unit == std::string_view::npos) return refuse();
  }
  if (value > UINT64_MAX >> (10 * unit)) return refuse();
  return value << (10 * unit);
}

int explain_command(const ExplainOptions& options) {
  placement::Registry& registry = placement::Registry::process();
  if (const Status status = register_operations(registry); !status) return report(status.error());
  const auto variants = select_variants(registry, options.operation);
  if (!variants) return report(variants.error());
  const auto sizes = parse_sizes(options.sizes);
  if (!sizes) return report(sizes.error());
  const placement::LoadedProfile& loaded = placement::process_profile();
  const int cpus = options.cpus > 0 ? options.cpus : free_cpus();
  const bool with_hoistd = device::remote::hoistd_answers();
  std::vector<VariantReport> reports;
  std::vector<MeasuredTable> tables;
  for (const VariantHandle* variant : *variants) {
    reports.push_back(report_on(*variant, loaded.profile(), cpus, with_hoistd, *sizes));
    if (options.measured) tables.push_back(measured_table(*variant, loaded.profile(), with_hoistd));
  }
  if (!options.plot.empty()) {
    const Status status =
        write_plot(options, reports, variants->front()->operation(), loaded.profile());
    if (!status) return report(status.error());
  }
  if (options.json) {
    print_json(loaded, options.measured ? json_list(tables) : json_list(reports));
    return kDone;
  }
  fmt::print("profile: {}\n", loaded.why);
  if (loaded.profile() != nullptr && !loaded.profile()->machine.gpu.empty()) {
    const placement::Machine& machine = loaded.profile()->machine;
    fmt::print("cuda: {}, driver {}\n", machine.gpu, machine.driver);
  }
  if (options.measured) {
    for (const MeasuredTable& one : tables) print_table(one);
  } else {
    for (const VariantReport& one : reports) print_variant(one);
  }
  return kDone;
}

}  // namespace hoist::cli
