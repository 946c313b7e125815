// The grid of a launch that is not given one, or only its threads: the file's own where the
// arguments decide it, else a thread for each element of the longest array that the kernel writes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::px {

// The elements of the longest array that the kernel writes; where it writes none, of all.
uint64_t longest_array(const ir::Kernel& kernel, std::span<const ir::Argument> arguments);

// As the launch functions of `hoist px build` have it (px/emit/standalone.h). The arguments are the
// kernel's, in their order. `invalid_argument` where what the file says is no grid, or there are
// more elements than a grid has threads.
Result<ir::Grid> default_grid(const ir::Module& module, const ir::Kernel& kernel,
                              std::span<const ir::Argument> arguments);

// As many blocks of `threads` as the longest array that the kernel writes needs, in x.
ir::Grid grid_of_blocks(const ir::Kernel& kernel, std::span<const ir::Argument> arguments,
                        const std::array<uint32_t, 3>& threads);

}  // namespace hoist::px
