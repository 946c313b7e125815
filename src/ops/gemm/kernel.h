// The call itself on a device, its matrices there.
#pragma once

#include "device/stream.h"
#include "ops/gemm/call.h"

namespace hoist::gemm {

// Puts the call, whose pointers are memory of the stream's device, on the stream: cuBLAS on a GPU,
// in full precision unless the call allows less (a batch by strides alone), the reference on the
// CPU device, hoistd's operation on a remote one. `unavailable` where no cuBLAS is installed.
Status enqueue(const device::Stream& stream, const hoist_blas_call& call);
// The same on a device of this process.
Status enqueue(device::Device& device, device::StreamHandle stream, const hoist_blas_call& call);

}  // namespace hoist::gemm
