// How much of an index is in the memory of a device.
#pragma once

#include <cstdint>
#include <string>

namespace hoist::match {

struct DeviceBytes {
  std::string device;  // "cuda:0"
  uint64_t bytes = 0;
};

}  // namespace hoist::match
