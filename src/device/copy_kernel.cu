// A copy kernel (device/copy_kernel.h) as a kernel: one block a slot.
#include <cuda_runtime.h>

#include <cstdint>

#include "device/copy_kernel.h"
#include "device/copy_kernel_launch.h"
#include "device/on_device.h"

namespace hoist::device {
namespace {

// Few threads with many loads under way: as fast as more, and a block then takes little of a
// multiprocessor. 16 KiB a block are on their way at once.
constexpr int kThreads = 128;
constexpr int kLoads = 8;  // of 16 bytes

constexpr unsigned kPauseNanoseconds = 200;  // between two looks across the link

__device__ uint64_t load_acquire(const uint64_t* from) {
  uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

__device__ void store_release(uint64_t* to, uint64_t value) {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

__device__ uint64_t nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// The slot's number once it is `number` or the end; 0 when the patience is over.
__device__ uint64_t await(const CopyOrder& order, uint64_t number, uint64_t patience) {
  const uint64_t begin = nanoseconds();
  while (true) {
    const uint64_t posted = load_acquire(&order.number);
    if (posted >= number) return posted;
    if (nanoseconds() - begin > patience) return 0;
    __nanosleep(kPauseNanoseconds);
  }
}

// By the whole block; both 16-byte aligned. What lies in host memory is read past the caches.
__device__ void move_piece(std::byte* to, const std::byte* from, uint64_t size) {
  const auto* const in = reinterpret_cast<const uint4*>(from);
  auto* const out = reinterpret_cast<uint4*>(to);
  const uint64_t count = size / sizeof(uint4);
  uint64_t at = threadIdx.x;
  for (; at + (kLoads - 1) * kThreads < count; at += kLoads * kThreads) {
    uint4 values[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) values[i] = __ldcv(in + at + i * kThreads);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) out[at + i * kThreads] = values[i];
  }
  for (; at < count; at += kThreads) out[at] = __ldcv(in + at);
  const uint64_t rest = count * sizeof(uint4) + threadIdx.x;
  if (rest < size) {
    reinterpret_cast<unsigned char*>(to)[rest] =
        __ldcv(reinterpret_cast<const unsigned char*>(from) + rest);
  }
}

__global__ void __launch_bounds__(kThreads) serve(const CopyKernel copy_kernel) {
  CopyOrder& order = copy_kernel.orders[blockIdx.x];
  CopyAnswer& answer = copy_kernel.answers[blockIdx.x];
  std::byte* const slot = copy_kernel.slots + blockIdx.x * copy_kernel.slot_size;
  __shared__ CopyOrder posted;
  for (uint64_t number = 1;; ++number) {
    if (threadIdx.x == 0) {
      posted.number = await(order, number, copy_kernel.patience);
      posted.offset = __ldcv(&order.offset);
      posted.size = __ldcv(&order.size);
    }
    __syncthreads();
    if (posted.number == 0 || posted.number == kCopyEnd) break;
    std::byte* const memory = copy_kernel.memory + posted.offset;
    move_piece(copy_kernel.is_upload ? memory : slot, copy_kernel.is_upload ? slot : memory,
               posted.size);
    __threadfence_system();
    __syncthreads();  // all threads' bytes are there before the answer, and `posted` was read
    if (threadIdx.x == 0) store_release(&answer.number, number);
  }
  if (threadIdx.x == 0 && posted.number == 0) store_release(&answer.left, 1);
}

// A block that is not there answers nothing; what one multiprocessor takes is the compiler's
// choice.
cudaError_t find_room(int device, uint32_t blocks) {
  int multiprocessors = 0;
  int of_each = 0;
  cudaError_t error =
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, serve, kThreads, 0);
  }
  if (error != cudaSuccess) return error;
  const bool is_there = static_cast<uint32_t>(multiprocessors * of_each) >= blocks;
  return is_there ? cudaSuccess : cudaErrorNotSupported;
}

}  // namespace

int launch_copy_kernel(int device, const CopyKernel& copy_kernel, void* stream) {
  return on_device(device, [&] {
    cudaError_t error = sees_host_addresses(device);
    if (error == cudaSuccess) error = find_room(device, 2 * copy_kernel.count);
    if (error != cudaSuccess) return error;
    serve<<<copy_kernel.count, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(copy_kernel);
    return cudaGetLastError();
  });
}

}  // namespace hoist::device
