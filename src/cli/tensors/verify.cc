#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"
#include "container/foreign.h"
#include "tensors/file/repair.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;
using nlohmann::ordered_json;

Result<HoloVerifyReport> verify_file(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  ProgressLine line(path);
  Result<HoloVerifyReport> report =
      verify_holotensor(**source, [&](uint64_t done, uint64_t total) { line.update(done, total); });
  if (!report || report->container.blocks > 0) return report;
  const Result<bool> foreign = container::is_foreign(**source);
  if (!foreign) return foreign.error();
  if (*foreign) return container::not_a_container(**source);
  return report;
}

ordered_json report_json(const std::string& path, const HoloVerifyReport& report) {
  return {{"file", path},
          {"ok", report.ok()},
          {"bytes", report.container.file_size},
          {"shards", report.shards},
          {"lost_shards", report.lost_shards},
          {"lost_tensors", report.lost_tensors},
          {"repairable", report.ok() || report.repairable},
          {"damage_count", report.container.damage_count},
          {"damage", damage_json(report.container.damage)}};
}

void print_text(const std::string& path, const HoloVerifyReport& report) {
  fmt::print("{}: {}, {} shards, {} bytes\n", path, report.ok() ? "OK" : "DAMAGED", report.shards,
             report.container.file_size);
  fmt::print("{}", damage_text(report.container.damage, report.container.damage_count));
  if (report.ok()) return;
  fmt::print("  {} shards lost, {}\n", report.lost_shards.size(),
             report.repairable ? "parity can give them back" : "more than parity can give back");
  for (const std::string& name : report.lost_tensors) fmt::print("  lost: {}\n", name);
}

Error damaged(const std::string& path, const HoloVerifyReport& report) {
  const char* mend = "get it again";
  if (report.some_left)
    mend = "get it again, or `hoist tensors unpack --skip-damaged` what is left";
  if (report.repairable) mend = "`hoist tensors repair` mends it";
  return {ErrorCode::corrupt, fmt::format("damaged tensor file ({}): {}", path, mend)};
}

}  // namespace

int tensors_verify_command(const TensorsVerifyOptions& options) {
  int status = kDone;
  ordered_json all = ordered_json::array();
  for (const std::string& path : options.files) {
    const Result<HoloVerifyReport> report = verify_file(path);
    if (!report) {
      status = std::max<int>(status, cli::report(report.error()));
      all.push_back({{"file", path}, {"ok", false}, {"error", report.error().message}});
      continue;
    }
    if (options.json) {
      all.push_back(report_json(path, *report));
    } else {
      print_text(path, *report);
    }
    if (!report->ok()) status = std::max<int>(status, cli::report(damaged(path, *report)));
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        ordered_json({{"files", all}}).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  }
  return status;
}

}  // namespace hoist::cli
