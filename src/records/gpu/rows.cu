// Chooses rows of columns that lie in a device's memory, and packs flags into bits: a CTA for each
// kKeptChunk entries.
#include <cuda_runtime.h>

#include <cstdint>

#include "device/on_device.h"

namespace hoist::records {
namespace {

constexpr unsigned kChunk = 1024;  // decode.h, kKeptChunk: a thread an entry
constexpr unsigned kLanes = 32;
constexpr unsigned kAllLanes = 0xffffffff;

__global__ void __launch_bounds__(kChunk)
    count_chunks(const uint8_t* kept, uint64_t count, uint64_t* ranks) {
  const uint64_t i = uint64_t{blockIdx.x} * kChunk + threadIdx.x;
  const int kept_here = __syncthreads_count(i < count && kept[i] != 0);
  if (threadIdx.x == 0) ranks[blockIdx.x] = static_cast<uint64_t>(kept_here);
}

// The sum of the values of the threads before this one; `total`: of all.
__device__ uint64_t sum_before(uint64_t mine, uint64_t& total) {
  __shared__ uint64_t warps[kChunk / kLanes];
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  uint64_t sum = mine;
  for (unsigned step = 1; step < kLanes; step *= 2) {
    const uint64_t other = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == kLanes - 1) warps[warp] = sum;
  __syncthreads();
  uint64_t before = 0;
  total = 0;
  for (unsigned i = 0; i < kChunk / kLanes; ++i) {
    if (i < warp) before += warps[i];
    total += warps[i];
  }
  __syncthreads();
  return before + sum - mine;
}

// One CTA: counts become what was kept before each chunk, with the sum of all behind them.
__global__ void __launch_bounds__(kChunk) sum_chunks(uint64_t* ranks, uint64_t chunks) {
  uint64_t before = 0;
  for (uint64_t base = 0; base < chunks; base += kChunk) {
    const uint64_t i = base + threadIdx.x;
    uint64_t total = 0;
    const uint64_t mine = i < chunks ? ranks[i] : 0;
    const uint64_t rank = before + sum_before(mine, total);
    if (i < chunks) ranks[i] = rank;
    before += total;
  }
  if (threadIdx.x == 0) ranks[chunks] = before;
}

template <typename T>
__global__ void __launch_bounds__(kChunk)
    gather(const uint8_t* kept, uint64_t count, const uint64_t* ranks, const T* from, T* to) {
  const uint64_t i = uint64_t{blockIdx.x} * kChunk + threadIdx.x;
  const bool keep = i < count && kept[i] != 0;
  uint64_t total = 0;
  const uint64_t place = sum_before(keep ? 1 : 0, total);
  if (keep) to[ranks[blockIdx.x] + place] = from[i];
}

__global__ void __launch_bounds__(kChunk)
    pack(const uint8_t* flags, uint64_t count, uint32_t* bits) {
  const uint64_t i = uint64_t{blockIdx.x} * kChunk + threadIdx.x;
  const unsigned word = __ballot_sync(kAllLanes, i < count && flags[i] != 0);
  if (threadIdx.x % kLanes == 0 && i < count) bits[i / kLanes] = word;
}

__global__ void __launch_bounds__(kChunk)
    renumber(int32_t* codes, uint64_t count, const int32_t* numbers, uint32_t entries) {
  const uint64_t i = uint64_t{blockIdx.x} * kChunk + threadIdx.x;
  if (i >= count) return;
  const auto code = static_cast<uint32_t>(codes[i]);
  if (code < entries) codes[i] = numbers[code];
}

}  // namespace

// All pointers are the device's. At most 2^31 - 1 chunks.
extern "C" int hoist_cuda_records_count(int device, void* stream, const uint8_t* kept,
                                        uint64_t count, uint64_t* ranks) {
  return device::on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    const uint64_t chunks = (count + kChunk - 1) / kChunk;
    if (chunks > 0) {
      count_chunks<<<static_cast<unsigned>(chunks), kChunk, 0, on>>>(kept, count, ranks);
    }
    sum_chunks<<<1, kChunk, 0, on>>>(ranks, chunks);
    return cudaGetLastError();
  });
}

extern "C" int hoist_cuda_records_gather(int device, void* stream, const uint8_t* kept,
                                         uint64_t count, const uint64_t* ranks, const void* from,
                                         uint32_t bytes, void* to) {
  return device::on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    const auto chunks = static_cast<unsigned>((count + kChunk - 1) / kChunk);
    const auto run = [&](auto type) {
      using T = decltype(type);
      gather<T><<<chunks, kChunk, 0, on>>>(kept, count, ranks, static_cast<const T*>(from),
                                           static_cast<T*>(to));
    };
    if (bytes == 1) {
      run(uint8_t{});
    } else if (bytes == 4) {
      run(uint32_t{});
    } else {
      run(uint64_t{});
    }
    return cudaGetLastError();
  });
}

extern "C" int hoist_cuda_records_bits(int device, void* stream, const uint8_t* flags,
                                       uint64_t count, uint32_t* bits) {
  return device::on_device(device, [=] {
    const auto chunks = static_cast<unsigned>((count + kChunk - 1) / kChunk);
    pack<<<chunks, kChunk, 0, static_cast<cudaStream_t>(stream)>>>(flags, count, bits);
    return cudaGetLastError();
  });
}

extern "C" int hoist_cuda_records_renumber(int device, void* stream, int32_t* codes, uint64_t count,
                                           const int32_t* numbers, uint32_t entries) {
  return device::on_device(device, [=] {
    const auto chunks = static_cast<unsigned>((count + kChunk - 1) / kChunk);
    renumber<<<chunks, kChunk, 0, static_cast<cudaStream_t>(stream)>>>(codes, count, numbers,
                                                                       entries);
    return cudaGetLastError();
  });
}

}  // namespace hoist::records
