// The CUDA driver of this machine, asked without creating a context (which would cost 0.26 s).
#pragma once

#include <string>
#include <vector>

namespace hoist::device {

struct CudaDevices {
  std::vector<std::string> names;
  std::string why;  // where there are none: why
};

// Asks the driver, if there is one.
CudaDevices find_cuda_devices();

}  // namespace hoist::device
