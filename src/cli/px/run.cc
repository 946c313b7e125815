#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"
#include "cli/interrupts.h"
#include "cli/output_rule.h"
#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/px/run_place.h"
#include "cli/px/run_report.h"
#include "cli/px/run_values.h"
#include "cli/report.h"
#include "device/device.h"
#include "px/program.h"
#include "px/wait.h"

namespace hoist::cli {
namespace {

std::string shown(const px::Program& program) {
  return program.target() == px::Target::cuda ? program.device().properties().id()
                                              : std::string(name(program.target()));
}

// All of them or none.
Status write_outputs(const RunValues& made, const std::vector<ArrayFileName>& outputs,
                     const OutputRule& rule) {
  std::vector<OutputFile> files;
  for (const ArrayFileName& output : outputs) {
    const ArrayContent& content = made.contents.at(output.array);
    Result<OutputFile> file =
        write_array(output.file, output.array->array.element, content.shape, content.bytes, rule);
    if (!file) return file.error();
    files.push_back(*std::move(file));
  }
  return OutputFile::publish_all(files);
}

// Whether to stop. A GPU's kernels cannot be stopped: the process ends with them.
bool is_stop_wanted(const px::Program& program) {
  if (is_interrupted() && program.target() == px::Target::cuda) end_if_interrupted(kFailed);
  return is_interrupted();
}

px::LaunchKernel launches_of(const px::Program& program, device::Stream& stream,
                             bool check_bounds) {
  return [&program, &stream, check_bounds, stop = std::stop_source()](
             const ir::Kernel& kernel, const ir::Grid& grid,
             std::span<const ir::Argument> arguments) mutable -> Result<std::optional<ir::Fault>> {
    Status done = program.launch(stream, kernel, grid, arguments, {.stop = stop.get_token()});
    if (done) done = px::wait_or_stop(stream, stop, [&] { return is_stop_wanted(program); });
    if (!done) return done.error();
    if (!check_bounds) return std::optional<ir::Fault>();
    return program.take_fault(stream);
  };
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
  const OutputRule rule = output_rule(options.force, input_files(options));
  for (const ArrayFileName& output : *outputs) {
    if (Status may = check_output(output.file, rule); !may) return may;
  }
  Result<RunValues> made = read_values(options, host);
  if (!made) return made.error();
  const Result<RunPlace> place = choose_place(options, file, *made);
  if (!place) return place.error();
  if (options.explain) {
    print_place(options, *place);
    return {};
  }

  const Stopwatch watch;
  const bool check_bounds = options.check_bounds || place->target == px::Target::interpreter;
  const Result<px::Program> program = px::Program::build(
      std::move(file.lowered->module),
      {.target = place->target, .device = place->device, .check_bounds = check_bounds});
  if (!program) return program.error();
  if (!program->note().empty()) {
    warn(fmt::format("the interpreter runs {}, slowly: {}", file.source.name(), program->note()));
  }
  if (is_interrupted()) return fail(ErrorCode::cancelled, "stopped as asked");
  RunTimes times{shown(*program), watch.milliseconds()};

  Result<device::Stream> stream = device::Stream::create(program->device());
  if (!stream) return stream.error();
  const Result<px::HostReport> report = px::run_host(
      host, made->values, *stream, launches_of(*program, *stream, check_bounds), file.source);
  if (!report) return report.error();
  if (report->fault) {
    return fail(ErrorCode::io, ir::describe(*report->fault, file.source.name()));
  }
  if (Status written = write_outputs(*made, *outputs, rule); !written) return written;
  print_run(options, host, *made, *outputs, *report, times, *place);
  return {};
}

}  // namespace

int px_run(const PxRunOptions& options) {
  Result<PxFile> file = load_px(options.file);
  if (!file) return report(file.error());
  if (!file->lowered) return kFailed;
  // What was begun goes first: files that are not whole, the compiler's folder.
  catch_interrupts();
  const Status done = run(options, *file);
  if (!done && is_interrupted()) return end_if_interrupted(kFailed);
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
