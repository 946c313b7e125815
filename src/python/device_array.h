// Memory of a device as an array for Python, which other libraries take over by DLPack.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/buffer.h"

namespace hoist::python {

// A flat array of bytes, on whatever device.
using DeviceArray = nanobind::ndarray<nanobind::array_api, uint8_t, nanobind::ndim<1>>;

// An array of bytes that lie in `memory`, which it keeps.
DeviceArray device_array(std::byte* data, size_t size, std::shared_ptr<device::Buffer> memory);

}  // namespace hoist::python
