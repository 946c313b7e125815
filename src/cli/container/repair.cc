#include "container/repair.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/container/commands.h"
#include "cli/container/damage_report.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

void print_json(const RepairFileOptions& options, const container::RepairReport& report) {
  const nlohmann::ordered_json json = {{"file", options.file},
                                       {"output", options.output},
                                       {"blocks", report.blocks},
                                       {"stored_bytes", report.stored_bytes},
                                       {"duplicates", report.duplicates},
                                       {"kind_lost", report.kind_lost},
                                       {"metadata_lost", report.metadata_lost},
                                       {"damage_count", report.damage_count},
                                       {"damage", damage_json(report.damage)}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_text(const RepairFileOptions& options, const container::RepairReport& report) {
  fmt::print("{}: {} blocks, {} bytes saved\n", options.output, report.blocks, report.stored_bytes);
  if (report.kind_lost) fmt::print("  the kind of the file is lost\n");
  if (report.metadata_lost) fmt::print("  the metadata is lost\n");
  if (report.duplicates > 0) {
    fmt::print("  {} blocks left out whose id was there already\n", report.duplicates);
  }
  if (report.damage_count > 0) fmt::print("damage found in {}:\n", options.file);
  fmt::print("{}", damage_text(report.damage, report.damage_count));
}

}  // namespace

int repair_command(const RepairFileOptions& options) {
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(options.file);
  if (!source) return report(source.error());
  ProgressLine line(options.file);
  container::RepairOptions how;
  how.limits = limits_for((*source)->size());
  how.output = output_rule(options.force, {options.file});
  how.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  const Result<container::RepairReport> done = container::repair(**source, options.output, how);
  if (!done) return report(done.error());
  if (options.json) {
    print_json(options, *done);
  } else {
    print_text(options, *done);
  }
  return kDone;
}

}  // namespace hoist::cli
