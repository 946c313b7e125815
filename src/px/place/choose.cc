#include "px/place/choose.h"

#include <fmt/core.h>

#include "px/place/rates.h"

namespace hoist::px {

ChosenDevice choose_device(const ir::Kernel& kernel, const ir::Grid& grid,
                           std::span<const ir::Argument> arguments) {
  device::Device& cpu = device::cpu_device();
  const Result<Rates>& rates = Rates::process();
  if (!rates) return {&cpu, fmt::format("the CPU: {}", rates.error().message)};
  const Work work = work_of(kernel, grid, arguments);
  const PlaceEstimate estimate = rates->estimate(work);
  if (!estimate.on_gpu) return {&cpu, describe(estimate, work)};
  const Result<device::Device*> gpu = device::cuda_device();
  if (!gpu) return {&cpu, fmt::format("the CPU: {}", gpu.error().message)};
  return {*gpu, describe(estimate, work)};
}

}  // namespace hoist::px
