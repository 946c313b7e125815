#include "px/program.h"

#include <fmt/core.h>

#include <mutex>
#include <utility>

#include "device/buffer.h"
#include "ir/interpret.h"
#include "ir/passes/simplify.h"
#include "ir/verify.h"
#include "px/compile/cpu_module.h"
#include "px/compile/gpu_module.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"

namespace hoist::px {
namespace {

bool is_cpu(const device::Device& device) {
  return device.properties().kind == device::DeviceKind::cpu;
}

Status check(const ir::Module& module) {
  const std::vector<ir::Problem> problems = ir::verify(module);
  if (problems.empty()) return {};
  const ir::Problem& first = problems.front();
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}:{}:{}: {}", module.file(), first.place.line, first.place.column,
                          first.message));
}

// Where the program runs, and as what: never automatic.
struct Choice {
  device::Device* device;
  Target target;
};

Result<Choice> choose(const ProgramOptions& options) {
  device::Device* device = options.device;
  if (!device && options.target == Target::cuda) {
    const Result<device::Device*> gpu = device::cuda_device();
    if (!gpu) return gpu.error();
    device = *gpu;
  }
  if (!device) device = &device::cpu_device();
  Target target = options.target;
  if (target == Target::automatic) target = is_cpu(*device) ? Target::cpu : Target::cuda;
  if ((target == Target::cuda) == is_cpu(*device)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} does not run on {}", name(target), device->properties().id()));
  }
  return Choice{device, target};
}

}  // namespace

std::string_view name(Target target) {
  switch (target) {
    case Target::automatic:
      return "auto";
    case Target::cpu:
      return "cpu";
    case Target::cuda:
      return "cuda";
    case Target::interpreter:
      break;
  }
  return "interpreter";
}

class Program::State {
 public:
  State(ir::Module made, const Choice& choice)
      : module(std::move(made)), device(*choice.device), target(choice.target) {}

  Status compile_for_cpu(bool check_bounds) {
    Code code = emit_cpp(module, check_bounds);
    auto compiled = CpuModule::compile(code);
    if (!compiled) return compiled.error();
    cpu = *std::move(compiled);
    sites = std::move(code.sites);
    return {};
  }

  Status compile_for_gpu(bool check_bounds) {
    Code code = emit_cuda(module, check_bounds);
    auto compiled = GpuModule::compile(device, std::move(code.text));
    if (!compiled) return compiled.error();
    gpu = *std::move(compiled);
    sites = std::move(code.sites);
    if (!check_bounds) return {};
    const CpuFault none;
    Result<device::Buffer> buffer =
        device::Buffer::copy_of(device, std::as_bytes(std::span(&none, 1)));
    if (!buffer) return buffer.error();
    gpu_fault = *std::move(buffer);
    return {};
  }

  void keep(std::optional<ir::Fault> found) {
    const std::scoped_lock lock(mutex);
    if (found && !fault) fault = std::move(found);
  }

  std::optional<ir::Fault> fault_of(const CpuFault& found, const std::string& kernel) const {
    if (found.taken == 0 || found.site >= sites.size()) return std::nullopt;
    const Site& site = sites[found.site];
    return ir::Fault{site.place,
                     kernel,
                     site.array,
                     found.index,
                     found.length,
                     {found.block[0], found.block[1], found.block[2]},
                     {found.thread[0], found.thread[1], found.thread[2]}};
  }

  const ir::Module module;
  device::Device& device;
  Target target;
  std::string note;
  std::shared_ptr<const CpuModule> cpu;
  std::unique_ptr<GpuModule> gpu;
  std::vector<Site> sites;
  device::Buffer gpu_fault;
  std::string gpu_kernel;  // that was launched last, for its fault

  std::mutex mutex;
  std::optional<ir::Fault> fault;
};

Result<Program> Program::build(ir::Module module, const ProgramOptions& options) {
  if (Status right = check(module); !right) return right.error();
  const Result<Choice> choice = choose(options);
  if (!choice) return choice.error();
  // The interpreter runs what was written: it is what all else is compared with.
  if (choice->target != Target::interpreter) ir::simplify(module);
  const auto state = std::make_shared<State>(std::move(module), *choice);
  Status compiled;
  if (state->target == Target::cpu) compiled = state->compile_for_cpu(options.check_bounds);
  if (state->target == Target::cuda) compiled = state->compile_for_gpu(options.check_bounds);
  const bool may_interpret = options.target == Target::automatic && state->target == Target::cpu;
  if (!compiled && may_interpret && compiled.error().code == ErrorCode::unavailable) {
    state->target = Target::interpreter;
    state->note = compiled.error().message;
    compiled = {};
  }
  if (!compiled) return compiled.error();
  return Program(state);
}

const ir::Module& Program::module() const { return state_->module; }
Target Program::target() const { return state_->target; }
device::Device& Program::device() const { return state_->device; }
const std::string& Program::note() const { return state_->note; }

Status Program::launch(const device::Stream& stream, const ir::Kernel& kernel, const ir::Grid& grid,
                       std::span<const ir::Argument> arguments,
                       const LaunchOptions& options) const {
  if (Status can = ir::check_launch(kernel, grid, arguments); !can) return can;
  if (&stream.device() != &state_->device) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} was compiled for {}, the stream is {}'s", kernel.name,
                            state_->device.properties().id(), stream.device().properties().id()));
  }
  std::vector<ir::Argument> values(arguments.begin(), arguments.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Parameter* scalar = kernel.arguments[i].scalar;
    if (scalar) values[i].bits &= ir::mask(scalar->type.scalar);
  }
  if (state_->target == Target::cuda) {
    const std::scoped_lock lock(state_->mutex);
    state_->gpu_kernel = kernel.name;
    return state_->gpu->launch(stream, kernel, grid, values, state_->gpu_fault.data());
  }
  if (state_->target == Target::interpreter) {
    return state_->device.call(stream.handle(), [state = state_, &kernel, grid,
                                                 values = std::move(values), stop = options.stop] {
      if (auto done = ir::interpret(kernel, grid, values, {.stop = stop}))
        state->keep(*std::move(done));
    });
  }
  CpuKernel* const compiled = state_->cpu->kernel(cpp_entry_name(kernel));
  if (!compiled) {
    return fail(ErrorCode::internal, fmt::format("there is no compiled {}", kernel.name));
  }
  return state_->device.call(stream.handle(), [state = state_, compiled, &kernel, grid,
                                               values = std::move(values), options] {
    CpuFault fault;
    run_on_cpu(compiled, grid, values, &fault, options);
    state->keep(state->fault_of(fault, kernel.name));
  });
}

Result<std::optional<ir::Fault>> Program::take_fault(device::Stream& stream) const {
  if (Status done = stream.synchronize(); !done) return done.error();
  const std::scoped_lock lock(state_->mutex);
  if (state_->gpu_fault.data() == nullptr) return std::exchange(state_->fault, std::nullopt);
  CpuFault found;
  if (Status got = state_->gpu_fault.download(std::as_writable_bytes(std::span(&found, 1))); !got) {
    return got.error();
  }
  if (found.taken == 0) return std::optional<ir::Fault>();
  const CpuFault none;
  if (Status reset = state_->gpu_fault.upload(std::as_bytes(std::span(&none, 1))); !reset) {
    return reset.error();
  }
  return state_->fault_of(found, state_->gpu_kernel);
}

}  // namespace hoist::px
