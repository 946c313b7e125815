#include "container/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/container/commands.h"
#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/report.h"
#include "container/foreign.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

Result<container::VerifyReport> verify_file(const std::string& path) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(path);
  if (!source) return source.error();
  ProgressLine line(path);
  container::VerifyOptions options;
  options.limits = limits_for((*source)->size());
  options.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  Result<container::VerifyReport> report = container::verify(**source, options);
  if (!report || report->blocks > 0) return report;
  const Result<bool> foreign = container::is_foreign(**source);
  if (!foreign) return foreign.error();
  if (*foreign) return container::not_a_container(**source);
  return report;
}

ordered_json report_json(const std::string& path, const container::VerifyReport& report) {
  ordered_json json = {{"file", path},
                       {"ok", report.ok()},
                       {"file_size", report.file_size},
                       {"blocks", report.blocks},
                       {"raw_bytes", report.raw_bytes},
                       {"stored_bytes", report.stored_bytes},
                       {"commits", report.commits},
                       {"duplicates", report.duplicates}};
  if (report.header) json["kind"] = kind_name(report.header->kind);
  if (report.root) json["root"] = hex(*report.root);
  json["damage_count"] = report.damage_count;
  json["damage"] = damage_json(report.damage);
  return json;
}

void print_text(const std::string& path, const container::VerifyReport& report) {
  fmt::print("{}: {}, {} blocks, {} bytes\n", path, report.ok() ? "OK" : "DAMAGED", report.blocks,
             report.file_size);
  fmt::print("{}", damage_text(report.damage, report.damage_count));
}

}  // namespace

int verify_command(const VerifyFilesOptions& options) {
  int status = kDone;
  ordered_json all = ordered_json::array();
  for (const std::string& path : options.files) {
    Result<container::VerifyReport> report = verify_file(path);
    if (!report) {
      status = std::max<int>(status, cli::report(report.error()));
      if (options.json) {
        all.push_back({{"file", path}, {"ok", false}, {"error", report.error().message}});
      }
      continue;
    }
    if (options.json) {
      all.push_back(report_json(path, *report));
    } else {
      print_text(path, *report);
    }
    if (report->ok()) continue;
    status = std::max<int>(
        status, cli::report({ErrorCode::corrupt, fmt::format("damaged container ({}): get it again "
                                                             "or try `hoist container repair`",
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
