#include "px/default_grid.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::px {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint64_t kMostBlocks = 0x7fffffff / kThreads;

}  // namespace

uint64_t longest_array(const ir::Kernel& kernel, std::span<const ir::Argument> arguments) {
  uint64_t written = 0;
  uint64_t any = 0;
  bool writes = false;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ir::Array* array = kernel.arguments[i].array;
    if (!array) continue;
    any = std::max(any, arguments[i].length);
    if (array->direction == ir::Direction::in) continue;
    writes = true;
    written = std::max(written, arguments[i].length);
  }
  return writes ? written : any;
}

Result<ir::Grid> default_grid(const ir::Module& module, const ir::Kernel& kernel,
                              std::span<const ir::Argument> arguments) {
  for (const ir::Launch& launch : module.launches()) {
    if (launch.kernel == &kernel) return ir::grid_of(launch, arguments);
  }
  const uint64_t longest = longest_array(kernel, arguments);
  const uint64_t blocks = longest / kThreads + (longest % kThreads != 0 ? 1 : 0);
  if (blocks > kMostBlocks) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} elements are more than a grid has threads ({}): give the grid, and "
                            "let each thread do several",
                            longest, kernel.name));
  }
  return ir::Grid{.blocks = {static_cast<uint32_t>(blocks), 1, 1}, .threads = {kThreads, 1, 1}};
}

ir::Grid grid_of_blocks(const ir::Kernel& kernel, std::span<const ir::Argument> arguments,
                        const std::array<uint32_t, 3>& threads) {
  constexpr uint64_t kMost = 0x7fffffff;
  const uint64_t of_block = std::max<uint32_t>(1, threads[0]);
  const uint64_t blocks = (longest_array(kernel, arguments) + of_block - 1) / of_block;
  return {.blocks = {static_cast<uint32_t>(std::min(blocks, kMost)), 1, 1}, .threads = threads};
}

}  // namespace hoist::px
