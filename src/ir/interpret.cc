#include "ir/interpret.h"

#include <fmt/core.h>

#include "ir/interpret/frame.h"

namespace hoist::ir {
namespace {

void bind(Frame& frame, const Kernel& kernel, std::span<const Argument> arguments) {
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Kernel::Argument& to = kernel.arguments[i];
    if (to.array) {
      frame.bind(to.array, arguments[i]);
    } else {
      frame.bind(to.scalar, arguments[i].bits & mask(to.scalar->type.scalar));
    }
  }
}

Threads all_threads(uint32_t count) {
  Threads threads(count);
  for (uint32_t i = 0; i < count; ++i) threads[i] = i;
  return threads;
}

}  // namespace

Result<std::optional<Fault>> interpret(const Kernel& kernel, const Grid& grid,
                                       std::span<const Argument> arguments,
                                       const InterpretOptions& options) {
  if (Status can = check_launch(kernel, grid, arguments); !can) return can.error();
  Run run = {kernel, grid, options.most_steps};
  const Threads threads = all_threads(grid.block_threads());
  for (uint32_t z = 0; z < grid.blocks[2]; ++z) {
    for (uint32_t y = 0; y < grid.blocks[1]; ++y) {
      for (uint32_t x = 0; x < grid.blocks[0]; ++x) {
        if (options.stop.stop_requested()) {
          return fail(ErrorCode::cancelled, fmt::format("{} was stopped as asked", kernel.name));
        }
        run.block = {x, y, z};
        Frame frame(run, grid.block_threads(), kernel.arrays);
        bind(frame, kernel, arguments);
        frame.run(kernel.body, threads);
        if (run.steps_left == 0) {
          return fail(ErrorCode::exhausted, fmt::format("{} did not end within {} steps",
                                                        kernel.name, options.most_steps));
        }
      }
    }
  }
  return run.fault;
}

uint64_t evaluate(const Expression& expression, const Kernel& kernel,
                  std::span<const Argument> arguments) {
  const Grid grid;
  Run run = {kernel, grid, 0};
  Frame frame(run, 1, {});
  bind(frame, kernel, arguments);
  return frame.value(expression, 0);
}

}  // namespace hoist::ir
