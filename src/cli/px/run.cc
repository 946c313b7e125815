#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"
#include "cli/output_rule.h"
#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/px/run_report.h"
#include "cli/px/run_values.h"
#include "cli/report.h"
#include "device/device.h"
#include "px/program.h"

namespace hoist::cli {
namespace {

// Where to run it when nobody says: a GPU's context takes a quarter of a second, in which one core
// goes through some GB.
constexpr uint64_t kBytesForGpu = uint64_t{256} << 20;

struct Place {
  px::Target target = px::Target::automatic;
  device::Device* device = nullptr;
};

Result<device::Device*> gpu_of(const px::HostProgram& host) {
  return device::cuda_device(host.device);
}

Result<Place> choose(const PxRunOptions& options, const px::HostProgram& host,
                     const RunValues& made) {
  device::Device& cpu = device::cpu_device();
  if (options.target == "interpreter") return Place{px::Target::interpreter, &cpu};
  const bool file_decides = options.target == "auto";
  if (options.target == "cpu" || (file_decides && host.target == px::HostTarget::cpu)) {
    return Place{px::Target::cpu, &cpu};
  }
  if (options.target == "cuda" || (file_decides && host.target == px::HostTarget::gpu)) {
    const Result<device::Device*> gpu = gpu_of(host);
    if (!gpu) return gpu.error();
    return Place{px::Target::cuda, *gpu};
  }
  uint64_t bytes = 0;
  for (const auto& [array, content] : made.contents) bytes += content.bytes.size();
  if (bytes < kBytesForGpu) return Place{px::Target::automatic, &cpu};
  const Result<device::Device*> gpu = gpu_of(host);
  return Place{px::Target::automatic, gpu ? *gpu : &cpu};
}

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

px::LaunchKernel launches_of(const px::Program& program, device::Stream& stream,
                             bool check_bounds) {
  return [&program, &stream, check_bounds](
             const ir::Kernel& kernel, const ir::Grid& grid,
             std::span<const ir::Argument> arguments) -> Result<std::optional<ir::Fault>> {
    if (Status done = program.launch(stream, kernel, grid, arguments); !done) return done.error();
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
  const Result<Place> place = choose(options, host, *made);
  if (!place) return place.error();

  const Stopwatch watch;
  const bool check_bounds = options.check_bounds || place->target == px::Target::interpreter;
  const Result<px::Program> program = px::Program::build(
      std::move(file.lowered->module),
      {.target = place->target, .device = place->device, .check_bounds = check_bounds});
  if (!program) return program.error();
  if (!program->note().empty()) {
    warn(fmt::format("the interpreter runs {}, slowly: {}", file.source.name(), program->note()));
  }
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
  print_run(options, host, *made, *outputs, *report, times);
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
