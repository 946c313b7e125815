// Launches on arrays of host memory, on any device.
#pragma once

#include <functional>
#include <span>
#include <stop_token>

#include "px/program.h"

namespace hoist::px {

// Runs the kernel on the arrays of host memory that the arguments point to, and returns when they
// have what it wrote. On a GPU they are copied there and, as far as the kernel writes them, back.
// `stop` may be requested by others. `wants_stop`, which may be empty, is asked now and then on the
// calling thread (wait.h).
//
// Errors: those of Program::launch() and wait_or_stop(); where one comes from a GPU the arrays are
// as they were, unless it comes while they are copied back.
Status run_on_host_arrays(const Program& program, device::Stream& stream, const ir::Kernel& kernel,
                          const ir::Grid& grid, std::span<const ir::Argument> arguments,
                          std::stop_source& stop, const std::function<bool()>& wants_stop = {},
                          int threads = 0);

}  // namespace hoist::px
