#include <fmt/core.h>

#include "base/stopwatch.h"
#include "cli/output_rule.h"
#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/px/run_report.h"
#include "cli/px/run_values.h"
#include "cli/report.h"
#include "ir/interpret.h"

namespace hoist::cli {
namespace {

Status write_outputs(const PxRunOptions& options, const RunValues& made,
                     const std::vector<ArrayFileName>& outputs) {
  for (const ArrayFileName& output : outputs) {
    const ArrayContent& content = made.contents.at(output.array);
    if (Status written = write_array(output.file, output.array->array.element, content.shape,
                                     content.bytes, output_rule(options.force));
        !written) {
      return written;
    }
  }
  return {};
}

Status run(const PxRunOptions& options, PxFile& file) {
  const px::HostProgram& host = file.lowered->host;
  if (!host.has_launch()) {
    return fail(ErrorCode::not_found,
                fmt::format("nothing to run ({}): write GPU_LAUNCH kernel BLOCKS n THREADS m",
                            file.source.name()));
  }
  const Result<std::vector<ArrayFileName>> outputs = output_files(options, host);
  if (!outputs) return outputs.error();
  for (const ArrayFileName& output : *outputs) {
    if (Status may = check_output(output.file, output_rule(options.force)); !may) return may;
  }
  Result<RunValues> made = read_values(options, host);
  if (!made) return made.error();
  Result<device::Stream> stream = device::Stream::create(device::cpu_device());
  if (!stream) return stream.error();
  const px::LaunchKernel launch = [](const ir::Kernel& kernel, const ir::Grid& grid,
                                     std::span<const ir::Argument> arguments) {
    return ir::interpret(kernel, grid, arguments);
  };
  const Result<px::HostReport> report =
      px::run_host(host, made->values, *stream, launch, file.source);
  if (!report) return report.error();
  if (report->fault) {
    return fail(ErrorCode::io, ir::describe(*report->fault, file.source.name()));
  }
  if (Status written = write_outputs(options, *made, *outputs); !written) return written;
  print_run(options, host, *made, *outputs, *report, {.target = "interpreter"});
  return {};
}

}  // namespace

int px_run(const PxRunOptions& options) {
  Result<PxFile> file = load_px(options.file);
  if (!file) return report(file.error());
  if (!file->lowered) return kFailed;
  const Status done = run(options, *file);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
