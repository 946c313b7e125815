// For code of the plug-in, which is told the device that each call is for (device/cuda_plugin.h).
#pragma once

#include <cuda_runtime.h>

namespace hoist::device {

// While it lives, runtime calls of this thread are for `device`: its primary context is the current
// one. Then what was current before is so again: a context of the program's own, or nothing, where
// the thread has used nothing yet. (To choose by cudaSetDevice() what was chosen before would make
// a context on the first device, of half a gigabyte, in a process that uses another one.)
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  int error() const { return error_; }  // a cudaError_t; 0: it is

 private:
  bool pushed_ = false;
  int error_ = 0;
};

// Whether any was current for this device: its primary context is then kept.
bool has_context(int device);

// Calls `call`, which gives a cudaError_t or another int that is 0 for success, with the device
// current.
//
// The runtime also keeps an error for cudaGetLastError(), by which launches are judged: what went
// wrong before is not taken for the failure of this call, nor this call's for that of the next.
template <typename Call>
int on_device(int device, const Call& call) {
  const CurrentDevice current(device);
  if (current.error() != 0) return current.error();
  (void)cudaGetLastError();
  const int result = call();
  if (result != 0) (void)cudaGetLastError();
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
