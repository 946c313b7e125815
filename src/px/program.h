// Kernels that can be launched: a module of the IR, compiled for where it is to run.
//
//   Result<Program> program = Program::build(std::move(module), {.target = Target::automatic});
//   const ir::Argument arguments[] = {ir::Argument::array(x, n), ir::Argument::array(y, n), …};
//   Status launched = program->launch(stream, *program->find_kernel("saxpy"),
//                                     {.blocks = {(n + 255) / 256, 1, 1}, .threads = {256, 1, 1}},
//                                     arguments);
//   Result<std::optional<ir::Fault>> fault = program->take_fault(stream);  // waits for the stream
//
// Arrays lie in the memory of the stream's device. A launch is enqueued and returns; memory that
// the kernel uses must stay until the stream has come past it. Launches of several threads, on
// several streams, may run at the same time. Programs are cheap to copy, and share their code.
//
// Compiled code is kept on the disk (device/module_cache.h), so that a program is compiled once.
//
// Errors: `invalid_argument` for a module that verify() refuses, with the first problem, and those
// of ir::check_launch(); `unavailable` where the target cannot be had: no compiler, no GPU;
// `internal` where a compiler refuses what was emitted, with its first lines.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "device/stream.h"
#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::px {

enum class Target {
  automatic,    // of the device: cuda on a GPU; on the CPU cpu, and the interpreter without a
                // compiler
  cpu,          // C++ by the system's compiler, on all cores
  cuda,         // by NVRTC
  interpreter,  // plain and slow (ir/interpret.h); in host memory
};
std::string_view name(Target target);  // "cpu"

struct ProgramOptions {
  Target target = Target::automatic;
  device::Device* device = nullptr;  // that it runs on; null: the CPU, for cuda the first GPU
  bool check_bounds = false;         // finds accesses beyond an array's end; costs time
};

struct LaunchOptions {
  // Once it is requested no further block begins on the CPU, and the kernel's work is left as it
  // is; those under way go on to their end (px/wait.h). A GPU's kernels cannot be stopped.
  std::stop_token stop{};
  int threads = 0;  // of the CPU, at most; 0: as many as the process may use
};

class Program {
 public:
  static Result<Program> build(ir::Module module, const ProgramOptions& options);

  const ir::Module& module() const;
  const ir::Kernel* find_kernel(std::string_view name) const { return module().find_kernel(name); }
  Target target() const;  // never automatic
  device::Device& device() const;
  // Why automatic has taken the interpreter; else empty.
  const std::string& note() const;

  // The kernel is one of the module's, the stream of the program's device.
  Status launch(const device::Stream& stream, const ir::Kernel& kernel, const ir::Grid& grid,
                std::span<const ir::Argument> arguments, const LaunchOptions& options = {}) const;

  // The first fault that a launch has found since the last call, after all work of the stream.
  // Without check_bounds there is none, whatever a kernel does.
  Result<std::optional<ir::Fault>> take_fault(device::Stream& stream) const;

 private:
  class State;
  explicit Program(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace hoist::px
