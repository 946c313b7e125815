// The plug-in's copy kernel, for CudaCalls (device/cuda_calls.h).
#pragma once

#include "device/copy_kernel.h"

namespace hoist::device {

// Enqueues the copy kernel on `stream`; a cudaError_t. cudaErrorNotSupported where the device sees
// pinned memory at other addresses than the host, or has not room for two such copy kernels at
// once.
int launch_copy_kernel(int device, const CopyKernel& copy_kernel, void* stream);

}  // namespace hoist::device
