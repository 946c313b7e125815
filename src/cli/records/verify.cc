#include "container/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/records/commands.h"
#include "cli/report.h"
#include "container/foreign.h"
#include "records/file_format.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

Result<container::VerifyReport> verify_file(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  ProgressLine line(path);
  container::VerifyOptions options;
  options.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  Result<container::VerifyReport> report = container::verify(**source, options);
  if (!report) return report;
  if (report->header && report->header->kind != records::kFileKind) {
    return fail(
        ErrorCode::corrupt,
        fmt::format("a container that holds no records ({}): use `hoist container verify`", path));
  }
  if (report->blocks > 0) return report;
  const Result<bool> foreign = container::is_foreign(**source);
  if (!foreign) return foreign.error();
  if (*foreign) return container::not_a_container(**source);
  return report;
}

void print_text(const std::string& path, const container::VerifyReport& report) {
  fmt::print("{}: {}, {} blocks, {} bytes\n", path, report.ok() ? "OK" : "DAMAGED", report.blocks,
             report.file_size);
  fmt::print("{}", damage_text(report.damage, report.damage_count));
}

ordered_json report_json(const std::string& path, const container::VerifyReport& report) {
  return {{"file", path},
          {"ok", report.ok()},
          {"bytes", report.file_size},
          {"blocks", report.blocks},
          {"text_bytes", report.raw_bytes},
          {"damage_count", report.damage_count},
          {"damage", damage_json(report.damage)}};
}

}  // namespace

int records_verify_command(const RecordsVerifyOptions& options) {
  int status = kDone;
  ordered_json all = ordered_json::array();
  for (const std::string& path : options.files) {
    const Result<container::VerifyReport> report = verify_file(path);
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
    if (report->ok()) continue;
    status = std::max<int>(
        status, cli::report({ErrorCode::corrupt,
                             fmt::format("damaged file of records ({}): get it again, or save what "
                                         "is whole with `hoist records repair`",
                                         path)}));
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        ordered_json({{"files", all}}).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  }
  return status;
}

}  // namespace hoist::cli
