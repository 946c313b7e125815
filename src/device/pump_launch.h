// The plug-in's pump, for CudaCalls (device/cuda_calls.h).
#pragma once

#include "device/pump.h"

namespace hoist::device {

// Enqueues the pump on `stream`; a cudaError_t. cudaErrorNotSupported where the device sees pinned
// memory at other addresses than the host, or has not room for two such pumps at once.
int launch_pump(int device, const Pump& pump, void* stream);

}  // namespace hoist::device
