#include "px/built_in/kernel.h"

#include <utility>
#include <vector>

namespace hoist::px {

Status BuiltInKernel::launch(const device::StreamView& stream, const ir::Grid& grid,
                             std::span<const ir::Argument> arguments) const {
  if (grid.block_count() == 0) return {};
  std::vector<ir::Argument> values(arguments.begin(), arguments.end());
  if (stream.device().properties().kind == device::DeviceKind::cpu) {
    return device::run_on_host(stream.device(), stream.handle(),
                               [kernel = on_cpu_, grid, values = std::move(values)] {
                                 run_on_cpu(kernel, grid, values, nullptr);
                               });
  }
  const uint32_t sizes[] = {grid.blocks[0],  grid.blocks[1],  grid.blocks[2],
                            grid.threads[0], grid.threads[1], grid.threads[2]};
  std::vector<void*> places;
  for (size_t i = 0; i < values.size(); ++i) {
    if ((arrays_ >> i & 1) != 0) {
      places.push_back(&values[i].data);
      places.push_back(&values[i].length);
    } else {
      places.push_back(&values[i].bits);  // little-endian: a narrow one lies at the beginning
    }
  }
  return on_gpu_.launch(stream.device(), stream.handle(), sizes, places.data());
}

}  // namespace hoist::px
