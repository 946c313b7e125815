// The plain way to run a kernel, and the oracle of the others: each block's threads go through the
// statements in lock-step, in a mask of those that are active, so a barrier is nothing to wait for
// and a shuffle reads what the others have. Slow, deterministic, every access checked.
//
//   Result<std::optional<Fault>> done = interpret(kernel, grid, arguments);
//
// Blocks go one after another, and threads in the order of their number: atomics, too. The module
// must have passed verify().
#pragma once

#include <optional>
#include <span>
#include <stop_token>

#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::ir {

struct InterpretOptions {
  // Statements times threads, after which a kernel counts as endless.
  uint64_t most_steps = ~uint64_t{0};
  // No further block begins once it is requested.
  std::stop_token stop{};
};

// The first fault, or none. Errors: those of check_launch(); `exhausted` after most_steps;
// `cancelled` where it was stopped.
Result<std::optional<Fault>> interpret(const Kernel& kernel, const Grid& grid,
                                       std::span<const Argument> arguments,
                                       const InterpretOptions& options = {});

// An expression of constants, the kernel's scalars and lengths.
uint64_t evaluate(const Expression& expression, const Kernel& kernel,
                  std::span<const Argument> arguments);

}  // namespace hoist::ir
