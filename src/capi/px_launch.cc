// Launching.
#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <stop_token>
#include <utility>

#include "capi/px_program.h"
#include "capi/status.h"
#include "capi/stop.h"
#include "capi/structs.h"
#include "capi/text.h"
#include "px/default_grid.h"
#include "px/place/choose.h"
#include "px/place/host_arrays.h"

namespace hoist::capi {
namespace {

Error refuse(std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); }

// The caller's value, which has the parameter's size, as bits.
uint64_t bits_of(const void* data, ir::Scalar type) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(ir::bytes(type)));
  return type == ir::Scalar::boolean ? bits != 0 : bits;
}

Result<ir::Argument> argument_of(const hoist_px_argument& given, const hoist_px_parameter& wanted,
                                 const ir::Kernel& kernel, const ir::Kernel::Argument& parameter,
                                 bool may_be_null) {
  const std::string who = fmt::format("{}: {}", kernel.name, wanted.name);
  if (!wanted.is_array) {
    if (given.bytes != wanted.bytes || given.data == nullptr) {
      return refuse(
          fmt::format("{} is a scalar of type {}, {} bytes, not {}: point to a variable "
                      "of that type",
                      who, wanted.type, wanted.bytes, given.data ? given.bytes : 0));
    }
    return ir::Argument::scalar(bits_of(given.data, parameter.scalar->type.scalar));
  }
  if (given.bytes % wanted.bytes != 0) {
    return refuse(fmt::format("{} is {}[]: {} bytes are no whole number of elements", who,
                              wanted.type, given.bytes));
  }
  if (given.data == nullptr && given.bytes != 0 && !may_be_null) {
    return refuse(fmt::format("{} is null", who));
  }
  return ir::Argument::array(const_cast<void*>(given.data), given.bytes / wanted.bytes);
}

// One launch, checked.
struct Launch {
  const hoist_px_program& program;
  const ir::Kernel& kernel;
  std::vector<ir::Argument> arguments;
  ir::Grid grid;
};

Result<std::vector<ir::Argument>> arguments_of(const hoist_px_program::Kernel& own,
                                               const hoist_px_argument* given, size_t count,
                                               bool may_be_null) {
  const ir::Kernel& kernel = *own.kernel;
  if (count != own.parameters.size()) {
    return refuse(
        fmt::format("{} takes {} arguments, not {}", kernel.name, own.parameters.size(), count));
  }
  if (Status there = count == 0 ? Status() : needed(given, "arguments"); !there) {
    return there.error();
  }
  std::vector<ir::Argument> arguments;
  for (size_t i = 0; i < count; ++i) {
    const Result<ir::Argument> one =
        argument_of(given[i], own.parameters[i], kernel, kernel.arguments[i], may_be_null);
    if (!one) return one.error();
    arguments.push_back(*one);
  }
  return arguments;
}

Result<ir::Grid> grid_of(const hoist_px_launch_options& options, const ir::Module& module,
                         const ir::Kernel& kernel, std::span<const ir::Argument> arguments) {
  const auto is_given = [](const uint32_t* of) { return of[0] != 0 || of[1] != 0 || of[2] != 0; };
  const auto extents = [](const uint32_t* of) -> std::array<uint32_t, 3> {
    return {of[0], of[1] == 0 ? 1 : of[1], of[2] == 0 ? 1 : of[2]};
  };
  if (is_given(options.threads)) {
    if (!is_given(options.blocks)) {
      return px::grid_of_blocks(kernel, arguments, extents(options.threads));
    }
    return ir::Grid{.blocks = extents(options.blocks), .threads = extents(options.threads)};
  }
  if (is_given(options.blocks)) {
    return refuse(fmt::format("{} is given blocks: give threads, too", kernel.name));
  }
  return px::default_grid(module, kernel, arguments);
}

Result<Launch> launch_of(const hoist_px_program* program, size_t kernel,
                         const hoist_px_argument* arguments, size_t count,
                         const hoist_px_launch_options& options, bool may_be_null) {
  if (Status there = needed(program, "program"); !there) return there.error();
  if (kernel >= program->kernels.size()) {
    return fail(ErrorCode::not_found, fmt::format("no kernel {} of {} ({})", kernel,
                                                  program->kernels.size(), program->name));
  }
  const hoist_px_program::Kernel& own = program->kernels[kernel];
  Result<std::vector<ir::Argument>> values = arguments_of(own, arguments, count, may_be_null);
  if (!values) return values.error();
  const Result<ir::Grid> grid = grid_of(options, program->lowered.module, *own.kernel, *values);
  if (!grid) return grid.error();
  return Launch{*program, *own.kernel, *std::move(values), *grid};
}

Result<px::ChosenDevice> device_of(const Launch& launch, const hoist_px_launch_options& options) {
  const PxTarget& target = launch.program.target;
  const bool is_on_gpu = options.on_device != 0;
  const bool may_be_gpu =
      target.target == px::Target::automatic || target.target == px::Target::cuda;
  if (is_on_gpu && !may_be_gpu) {
    return refuse(
        fmt::format("{} was compiled for {}, and its arrays lie on a GPU: compile for "
                    "auto or cuda",
                    launch.kernel.name, name(target.target)));
  }
  if (is_on_gpu) {
    const Result<device::Device*> gpu = device::cuda_device(options.device);
    if (!gpu) return gpu.error();
    return px::ChosenDevice{*gpu, "a GPU: the arrays lie there"};
  }
  if (target.target == px::Target::automatic) {
    return px::choose_device(launch.kernel, launch.grid, launch.arguments);
  }
  const std::string why = fmt::format("{}: as the program was compiled", name(target.target));
  if (target.target != px::Target::cuda) return px::ChosenDevice{&device::cpu_device(), why};
  const Result<device::Device*> gpu = device::cuda_device(target.gpu);
  if (!gpu) return gpu.error();
  return px::ChosenDevice{*gpu, why};
}

// Where it is enqueued, and who waits.
class LaunchStream {
 public:
  static Result<LaunchStream> of(const PxBuilt& built, const hoist_px_launch_options& options) {
    device::Device& device = built.program().device();
    if (options.on_device != 0 && options.stream != nullptr) {
      return LaunchStream(
          built, std::make_unique<device::Stream>(device::Stream::borrow(device, {options.stream})),
          true);
    }
    Result<std::unique_ptr<device::Stream>> own = built.take_stream();
    if (!own) return own.error();
    return LaunchStream(built, *std::move(own), false);
  }
  LaunchStream(LaunchStream&&) noexcept = default;
  LaunchStream& operator=(LaunchStream&&) = delete;
  ~LaunchStream() {
    if (stream_ && !is_callers_) built_.give_back(std::move(stream_));
  }

  device::Stream& stream() const { return *stream_; }
  bool is_callers() const { return is_callers_; }

 private:
  LaunchStream(const PxBuilt& built, std::unique_ptr<device::Stream> stream, bool is_callers)
      : built_(built), stream_(std::move(stream)), is_callers_(is_callers) {}

  const PxBuilt& built_;
  std::unique_ptr<device::Stream> stream_;
  bool is_callers_;
};

Status run(const Launch& launch, const PxBuilt& built, const LaunchStream& on,
           const hoist_px_launch_options& options, hoist_px_launched& launched) {
  const px::Program& program = built.program();
  const ir::Kernel& kernel = *program.find_kernel(launch.kernel.name);
  const bool finds_faults =
      launch.program.check_bounds || program.target() == px::Target::interpreter;
  std::unique_lock<std::mutex> turn;
  if (finds_faults) turn = std::unique_lock(built.turn());
  std::stop_source stop;
  const std::stop_callback forward(token_of(options.cancellation), [&] { stop.request_stop(); });
  Status done;
  if (options.on_device == 0) {
    done = px::run_on_host_arrays(program, on.stream(), kernel, launch.grid, launch.arguments, stop,
                                  {}, static_cast<int>(options.cpu_threads));
  } else {
    done = stop.stop_requested()
               ? Status(fail(ErrorCode::cancelled, "stopped as asked"))
               : program.launch(on.stream(), kernel, launch.grid, launch.arguments);
    if (done && !on.is_callers()) done = on.stream().synchronize();
  }
  if (!done || !finds_faults) return done;
  const Result<std::optional<ir::Fault>> fault = program.take_fault(on.stream());
  if (!fault) return fault.error();
  if (!*fault) return {};
  launched.has_fault = 1;
  launched.fault_line = (*fault)->place.line;
  launched.fault_column = (*fault)->place.column;
  launched.fault_index = (*fault)->index;
  launched.fault_length = (*fault)->length;
  return refuse(ir::describe(**fault, launch.program.name));
}

Status launch_on_device(const Launch& launch, const hoist_px_launch_options& options,
                        hoist_px_launched& launched) {
  if (launch.program.process != ::getpid()) {
    return fail(
        ErrorCode::unavailable,
        fmt::format("{} was compiled before fork(): compile it in the child", launch.program.name));
  }
  const Result<px::ChosenDevice> chosen = device_of(launch, options);
  if (!chosen) return chosen.error();
  const Result<const PxBuilt*> built = launch.program.on(*chosen->device);
  if (!built) return built.error();
  const Result<LaunchStream> stream = LaunchStream::of(**built, options);
  if (!stream) return stream.error();
  launched.on_gpu = (*built)->program().target() == px::Target::cuda ? 1 : 0;
  launched.device = launched.on_gpu ? chosen->device->properties().index : 0;
  return run(launch, **built, *stream, options, launched);
}

}  // namespace
}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;

extern "C" {

hoist_status hoist_px_launch(const hoist_px_program* program, size_t kernel,
                             const hoist_px_argument* arguments, size_t count,
                             const hoist_px_launch_options* options, hoist_px_launched* launched) {
  return guarded([&]() -> Status {
    size_t size = 0;
    if (launched != nullptr) {
      const Result<size_t> said = struct_size(launched, "hoist_px_launched");
      if (!said) return said.error();
      size = *said;
      give(hoist_px_launched{}, size, launched);
    }
    const auto own = options_of(options, "hoist_px_launch_options");
    if (!own) return own.error();
    const auto launch = launch_of(program, kernel, arguments, count, *own, false);
    if (!launch) return launch.error();
    hoist_px_launched made{};
    Status done = launch_on_device(*launch, *own, made);
    if (launched != nullptr && (done || made.has_fault)) give(made, size, launched);
    return done;
  });
}

hoist_status hoist_px_explain(const hoist_px_program* program, size_t kernel,
                              const hoist_px_argument* arguments, size_t count,
                              const hoist_px_launch_options* options, char** text) {
  return guarded([&]() -> Status {
    if (Status there = needed(text, "text"); !there) return there;
    *text = nullptr;
    const auto own = options_of(options, "hoist_px_launch_options");
    if (!own) return own.error();
    const auto launch = launch_of(program, kernel, arguments, count, *own, true);
    if (!launch) return launch.error();
    const Result<hoist::px::ChosenDevice> chosen = device_of(*launch, *own);
    if (!chosen) return chosen.error();
    *text = text_of(chosen->why);
    return {};
  });
}

}  // extern "C"
