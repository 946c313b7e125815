// What the plug-in gives kernels of the default stream: a copy and events. Errors are cudaError_t.
// Devices with streams are in cuda_calls.cu.
#include <cuda_runtime.h>

#include <cstddef>

namespace {

// The runtime also keeps an error for cudaGetLastError(), by which launches are judged: what was
// reported here must not be taken for the failure of the next launch.
int reported(cudaError_t error) {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error;
}

}  // namespace

extern "C" {

const char* hoist_cuda_error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

// The direction follows from the pointers (unified virtual addressing).
int hoist_cuda_copy(void* to, const void* from, size_t size) {
  return reported(cudaMemcpy(to, from, size, cudaMemcpyDefault));
}

// Of the current device, for every process.
int hoist_cuda_free_memory(size_t* bytes) {
  size_t all = 0;
  return reported(cudaMemGetInfo(bytes, &all));
}

// Also what a launch failed with that nobody asked about.
int hoist_cuda_synchronize() {
  const cudaError_t waited = cudaDeviceSynchronize();
  return reported(waited != cudaSuccess ? waited : cudaGetLastError());
}

int hoist_cuda_event_create(void** event) {
  return reported(cudaEventCreate(reinterpret_cast<cudaEvent_t*>(event)));
}

int hoist_cuda_event_destroy(void* event) {
  return reported(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
}

int hoist_cuda_event_record(void* event) {
  return reported(cudaEventRecord(static_cast<cudaEvent_t>(event)));
}

int hoist_cuda_event_elapsed(void* begin, void* end, float* milliseconds) {
  const cudaError_t waited = cudaEventSynchronize(static_cast<cudaEvent_t>(end));
  if (waited != cudaSuccess) return reported(waited);
  return reported(cudaEventElapsedTime(milliseconds, static_cast<cudaEvent_t>(begin),
                                       static_cast<cudaEvent_t>(end)));
}

}  // extern "C"
