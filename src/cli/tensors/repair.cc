#include "tensors/file/repair.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "cli/tensors/commands.h"

namespace hoist::cli {
namespace {

using namespace hoist::tensors;

// Without -o the file itself is the output, which is what it was called for.
Result<OutputRule> rule_of(const TensorsRepairOptions& options) {
  if (options.output.empty()) return OutputRule{.replace = Replace::any};
  if (check_other_file(options.file, options.output)) return output_rule(options.force);
  return fail(ErrorCode::invalid_argument,
              fmt::format("input and output are the same file ({}): leave out -o to repair it in "
                          "place",
                          options.file));
}

Result<HoloRepairReport> repair(const TensorsRepairOptions& options, const std::string& output) {
  const Result<OutputRule> rule = rule_of(options);
  if (!rule) return rule.error();
  Result<std::unique_ptr<container::Source>> source = container::open_file_source(options.file);
  if (!source) return source.error();
  ProgressLine line(options.file);
  return repair_holotensor(
      **source, output, [&](uint64_t done, uint64_t total) { line.update(done, total); },
      /*durable=*/true, *rule);
}

}  // namespace

int tensors_repair_command(const TensorsRepairOptions& options) {
  const std::string& output = options.output.empty() ? options.file : options.output;
  const Result<HoloRepairReport> done = repair(options, output);
  if (!done) return report(done.error());
  if (options.json) {
    const nlohmann::ordered_json json = {{"file", options.file},
                                         {"output", output},
                                         {"shards", done->shards},
                                         {"repaired", done->repaired},
                                         {"bytes", done->file_size}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}: {} of {} shards repaired, {} bytes\n", output, done->repaired, done->shards,
               done->file_size);
  }
  return kDone;
}

}  // namespace hoist::cli
