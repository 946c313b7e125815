// What the plug-in gives besides kernels: memory, copies and events of the CUDA runtime. Errors are
// cudaError_t; a stream is the default one.
#include <cuda_runtime.h>

#include <cstddef>

extern "C" {

const char* hoist_cuda_error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

int hoist_cuda_malloc(void** data, size_t size) { return cudaMalloc(data, size); }

int hoist_cuda_free(void* data) { return cudaFree(data); }

// The direction follows from the pointers (unified virtual addressing).
int hoist_cuda_copy(void* to, const void* from, size_t size) {
  return cudaMemcpy(to, from, size, cudaMemcpyDefault);
}

int hoist_cuda_fill(void* data, int value, size_t size) { return cudaMemset(data, value, size); }

int hoist_cuda_synchronize() { return cudaDeviceSynchronize(); }

int hoist_cuda_event_create(void** event) {
  return cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event));
}

int hoist_cuda_event_destroy(void* event) {
  return cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

int hoist_cuda_event_record(void* event) {
  return cudaEventRecord(static_cast<cudaEvent_t>(event));
}

int hoist_cuda_event_elapsed(void* begin, void* end, float* milliseconds) {
  const cudaError_t waited = cudaEventSynchronize(static_cast<cudaEvent_t>(end));
  if (waited != cudaSuccess) return waited;
  return cudaEventElapsedTime(milliseconds, static_cast<cudaEvent_t>(begin),
                              static_cast<cudaEvent_t>(end));
}

}  // extern "C"
