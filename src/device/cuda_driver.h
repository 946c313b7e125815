// The CUDA driver of this machine, asked without creating a context (which would cost 0.26 s).
#pragma once

#include <string>
#include <vector>

#include "device/device_properties.h"

namespace hoist::device {

struct CudaDevices {
  std::vector<DeviceProperties> devices;
  int driver_version = 0;  // the CUDA that the driver knows: 13000 is 13.0
  std::string why;         // where there are none: why, and the mend
};

// Asks the driver, if there is one.
CudaDevices find_cuda_devices();

}  // namespace hoist::device
