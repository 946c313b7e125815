// The device for a launch on arrays of host memory, where nobody names one.
#pragma once

#include <span>
#include <string>

#include "device/device.h"
#include "ir/launch.h"

namespace hoist::px {

struct ChosenDevice {
  device::Device* device;
  std::string why;  // "the CPU: 1.2 ms on the CPU, 310 ms on a GPU (…)"
};

// By the estimate of rates.h for this launch alone, the start of a GPU counted in, whether or not
// the process has one open: the same launch runs at the same place all its life. The CPU where
// nothing was measured. run_on_host_arrays() (host_arrays.h) then launches it there.
ChosenDevice choose_device(const ir::Kernel& kernel, const ir::Grid& grid,
                           std::span<const ir::Argument> arguments);

}  // namespace hoist::px
