// For code of the plug-in, which is told the device that each call is for (device/cuda_plugin.h).
#pragma once

#include <cuda_runtime.h>

namespace hoist::device {

// Calls `call`, which gives a cudaError_t or another int that is 0 for success, with the device
// current; afterwards the device that the thread had chosen is current again.
//
// The runtime also keeps an error for cudaGetLastError(), by which launches are judged: what went
// wrong before is not taken for the failure of this call, nor this call's for that of the next.
template <typename Call>
int on_device(int device, const Call& call) {
  int before = 0;
  cudaError_t error = cudaGetDevice(&before);
  const bool is_other = before != device;
  if (error == cudaSuccess && is_other) error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  (void)cudaGetLastError();
  const int result = call();
  if (result != 0) (void)cudaGetLastError();
  if (is_other) (void)cudaSetDevice(before);
  return result;
}

// Whether the device sees pinned memory where the host does: cudaErrorNotSupported where it does
// not.
inline cudaError_t sees_host_addresses(int device) {
  int same = 0;
  const cudaError_t error =
      cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, device);
  return error == cudaSuccess && same == 0 ? cudaErrorNotSupported : error;
}

}  // namespace hoist::device
