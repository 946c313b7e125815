// For tests: a kernel of a px file by the interpreter, the oracle of the compiled ones, with every
// access checked.
#pragma once

#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "device/cpu_device.h"
#include "px/lower/lower.h"
#include "px/program.h"

namespace hoist::px {

// `invalid_argument` with the messages where the file has errors; with the fault where an access
// lies beyond an array's end.
inline Status run_interpreted(const std::string& path, const std::string& kernel,
                              const ir::Grid& grid, std::span<const ir::Argument> arguments) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail(ErrorCode::not_found, path);
  const Source source(path, text);
  Diagnostics diagnostics;
  std::optional<Lowered> lowered = read(source, diagnostics);
  if (!lowered) return fail(ErrorCode::invalid_argument, render(source, diagnostics));
  device::CpuDevice device;
  const Result<Program> program =
      Program::build(std::move(lowered->module),
                     {.target = Target::interpreter, .device = &device, .check_bounds = true});
  if (!program) return program.error();
  const ir::Kernel* const found = program->find_kernel(kernel);
  if (found == nullptr) return fail(ErrorCode::not_found, kernel);
  Result<device::Stream> stream = device::Stream::create(device);
  if (!stream) return stream.error();
  if (Status done = program->launch(*stream, *found, grid, arguments); !done) return done;
  const Result<std::optional<ir::Fault>> fault = program->take_fault(*stream);
  if (!fault) return fault.error();
  if (*fault) return fail(ErrorCode::invalid_argument, ir::describe(**fault, path));
  return {};
}

}  // namespace hoist::px
