// Launches the kernel that finds the blocks of patterns and a state.
#include <cuda_runtime.h>

#include <algorithm>

#include "device/on_device.h"
#include "match/gpu/block_kernels.cuh"

namespace hoist::match {
namespace {

cudaError_t launch(int device, cudaStream_t stream, const BlockJob& job) {
  const auto kernel = job.is_wide != 0 ? summarize_blocks<uint32_t> : summarize_blocks<uint16_t>;
  int resident = 0;
  cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kBlockThreads, 0);
  int processors = 0;
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error != cudaSuccess) return error;
  const uint32_t useful = (job.count + kBlockWarps - 1) / kBlockWarps;
  const auto at_once = static_cast<uint32_t>(std::max(1, resident * processors));
  kernel<<<std::min(useful, at_once), kBlockThreads, 0, stream>>>(job);
  return cudaGetLastError();
}

}  // namespace
}  // namespace hoist::match

// The job has at least one pattern.
extern "C" int hoist_cuda_match_summarize_blocks(int device, void* stream,
                                                 const hoist::match::BlockJob* job) {
  return hoist::device::on_device(device, [&] {
    return hoist::match::launch(device, static_cast<cudaStream_t>(stream), *job);
  });
}
