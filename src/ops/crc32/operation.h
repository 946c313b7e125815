// CRC-32 as an operation of placement: `hoist tune` measures what a GPU would take, `hoist explain
// crc32` shows it beside one CPU, by which programs' calls are answered whatever is chosen here.
#pragma once

#include "device/device.h"
#include "placement/operation.h"

namespace hoist::crc32 {

// Variant "zlib"; implementations "cpu-1", and "cuda": the bytes from the host's memory to a GPU's,
// and their CRC there. Measuring is `unavailable` without a GPU.
placement::Operation operation();

// The work of both on random bytes, with `device` in place of the GPU; a run is `internal` where
// its CRC is not the other's.
Result<placement::Run> prepare_on(device::Device& device, uint64_t bytes);

}  // namespace hoist::crc32
