#include "records/repair.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/records/commands.h"
#include "cli/report.h"
#include "container/source.h"

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;
using records::LostRows;
using records::RepairReport;

ordered_json report_json(const RecordsRepairOptions& options, const RepairReport& report) {
  ordered_json lost = ordered_json::array();
  for (const LostRows& rows : report.lost) {
    ordered_json entry = {{"first", rows.first}, {"end", nullptr}, {"text_bytes", nullptr}};
    if (rows.end) entry["end"] = *rows.end;
    if (rows.text_bytes) entry["text_bytes"] = *rows.text_bytes;
    lost.push_back(std::move(entry));
  }
  return {{"file", options.file},
          {"output", options.output},
          {"rows", report.rows},
          {"blocks", report.blocks},
          {"text_bytes", report.text_bytes},
          {"bytes", report.file_bytes},
          {"lost", std::move(lost)},
          {"end_unknown", report.is_end_unknown},
          {"metadata_lost", report.metadata_lost},
          {"duplicates", report.duplicates},
          {"damage_count", report.damage_count},
          {"damage", damage_json(report.damage)}};
}

std::string lost_text(const LostRows& rows) {
  const std::string size =
      rows.text_bytes ? fmt::format(" ({} bytes of text)", *rows.text_bytes) : "";
  if (!rows.end) return fmt::format("  lost: all rows from {} on{}\n", rows.first, size);
  return fmt::format("  lost: {} rows, {}:{}{}\n", *rows.end - rows.first, rows.first, *rows.end,
                     size);
}

void print_text(const RecordsRepairOptions& options, const RepairReport& report) {
  fmt::print("{}: {} rows saved in {} blocks, {} bytes of text{}\n", options.output, report.rows,
             report.blocks, report.text_bytes, report.is_whole() ? "; none lost" : "");
  for (const LostRows& rows : report.lost) fmt::print("{}", lost_text(rows));
  if (report.is_end_unknown) {
    fmt::print("  whether rows followed them is not known: {} does not end in a commit\n",
               options.file);
  }
  if (report.metadata_lost) fmt::print("  the names of a CSV's columns are lost\n");
  if (report.duplicates > 0) {
    fmt::print("  {} blocks left out whose rows were there already\n", report.duplicates);
  }
  if (report.damage_count == 0) {
    fmt::print("  nothing is damaged in {}\n", options.file);
  } else {
    fmt::print("damage found in {}:\n", options.file);
    fmt::print("{}", damage_text(report.damage, report.damage_count));
  }
}

}  // namespace

int records_repair_command(const RecordsRepairOptions& options) {
  if (options.output == "-") {
    return report({ErrorCode::invalid_argument, "a file of records needs a name (-): name one"});
  }
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(options.file);
  if (!source) return report(source.error());
  ProgressLine line(options.file);
  records::RepairOptions how;
  how.output = output_rule(options.force, {options.file});
  how.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  const Result<RepairReport> done = records::repair(**source, options.output, how);
  if (!done) return report(done.error());
  if (options.json) {
    fmt::print(
        "{}\n",
        report_json(options, *done).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    print_text(options, *done);
  }
  return kDone;
}

}  // namespace hoist::cli
