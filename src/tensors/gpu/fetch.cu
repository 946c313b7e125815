// Copies from pinned host memory by a kernel. What kernels take (job tables, a few kilobytes) must
// not wait in the copy engine's queue behind megabytes of other streams: a millisecond each time
// while a model is loaded.
#include <cuda_runtime.h>

#include <cstdint>

#include "device/on_device.h"

namespace hoist::tensors {
namespace {

constexpr unsigned kThreads = 256;
constexpr uint64_t kMostBlocks = 64;

// Past the caches: the host writes there between two kernels.
__global__ void __launch_bounds__(kThreads) fetch(uint4* to, const uint4* from, uint64_t count) {
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += uint64_t{gridDim.x} * kThreads) {
    to[i] = __ldcv(from + i);
  }
}

}  // namespace
}  // namespace hoist::tensors

// `size` is a multiple of 16, and both are aligned to that. `from` is pinned memory of the host.
extern "C" int hoist_cuda_tensors_fetch(int device, void* stream, void* to, const void* from,
                                        uint64_t size) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    auto* const on = static_cast<cudaStream_t>(stream);
    void* mapped = nullptr;
    if (cudaHostGetDevicePointer(&mapped, const_cast<void*>(from), 0) != cudaSuccess) {
      (void)cudaGetLastError();  // memory that this device cannot address
      return cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, on);
    }
    const uint64_t count = size / sizeof(uint4);
    const uint64_t blocks = (count + kThreads - 1) / kThreads;
    fetch<<<static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads, 0, on>>>(
        static_cast<uint4*>(to), static_cast<const uint4*>(mapped), count);
    return cudaGetLastError();
  });
}
