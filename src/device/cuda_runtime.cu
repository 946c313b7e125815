// What the plug-in gives besides devices (cuda_calls.cu) and kernels: a copy, for benchmarks, and
// events that tell the time. Errors are cudaError_t.
#include <cuda_runtime.h>

#include <cstddef>

#include "device/on_device.h"

extern "C" {

const char* hoist_cuda_error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

// The direction follows from the pointers (unified virtual addressing). Without a stream it is
// cudaMemcpy().
int hoist_cuda_copy(int device, void* stream, void* to, const void* from, size_t size) {
  return hoist::device::on_device(device, [=] {
    return stream == nullptr ? cudaMemcpy(to, from, size, cudaMemcpyDefault)
                             : cudaMemcpyAsync(to, from, size, cudaMemcpyDefault,
                                               static_cast<cudaStream_t>(stream));
  });
}

int hoist_cuda_event_create(int device, void*, void** event) {
  return hoist::device::on_device(
      device, [=] { return cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event)); });
}

int hoist_cuda_event_destroy(int device, void*, void* event) {
  return hoist::device::on_device(
      device, [=] { return cudaEventDestroy(static_cast<cudaEvent_t>(event)); });
}

int hoist_cuda_event_record(int device, void* stream, void* event) {
  return hoist::device::on_device(device, [=] {
    return cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream));
  });
}

int hoist_cuda_event_elapsed(int device, void*, void* begin, void* end, float* milliseconds) {
  return hoist::device::on_device(device, [=] {
    const cudaError_t waited = cudaEventSynchronize(static_cast<cudaEvent_t>(end));
    if (waited != cudaSuccess) return waited;
    return cudaEventElapsedTime(milliseconds, static_cast<cudaEvent_t>(begin),
                                static_cast<cudaEvent_t>(end));
  });
}

}  // extern "C"
