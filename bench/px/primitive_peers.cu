// Maps, sums, a transpose and a histogram (bench/px/peers.h).
#include <cuda_runtime.h>

#include "peers.h"

namespace {

constexpr unsigned kThreads = 256;

unsigned blocks_for(uint64_t items) {
  return static_cast<unsigned>((items + kThreads - 1) / kThreads);
}

__global__ void copy(const float4* from, float4* to, uint64_t count) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

__global__ void saxpy(float a, const float4* x, float4* y, uint64_t count) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 u = x[i];
  const float4 v = y[i];
  y[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}

__global__ void add(const float4* x, const float4* y, float4* out, uint64_t count) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 u = x[i];
  const float4 v = y[i];
  out[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
}

__device__ float gelu_of(float x) { return 0.5F * x * (1 + erff(x * 0.70710678F)); }
__global__ void gelu(const float4* x, float4* out, uint64_t count) {
  const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 u = x[i];
  out[i] = make_float4(gelu_of(u.x), gelu_of(u.y), gelu_of(u.z), gelu_of(u.w));
}

__global__ void sum_blocks(const float4* values, float* sums, uint64_t count) {
  __shared__ float of_warps[8];
  float sum = 0;
  const uint64_t first = uint64_t{blockIdx.x} * 4096;
#pragma unroll 4
  for (int k = 0; k < 16; ++k) {
    const uint64_t i = first + k * kThreads + threadIdx.x;
    if (i < count) {
      const float4 v = values[i];
      sum += (v.x + v.y) + (v.z + v.w);
    }
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0U, sum, d);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) sum += of_warps[k];
    sums[blockIdx.x] = sum;
  }
}

__global__ void transpose(const uint32_t* from, uint32_t* to, uint64_t width, uint64_t height) {
  __shared__ uint32_t tile[32][33];
  const uint64_t column = blockIdx.x * uint64_t{32} + threadIdx.x;
  const uint64_t row = blockIdx.y * uint64_t{32} + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    if (column < width && row + k < height) {
      tile[threadIdx.y + k][threadIdx.x] = from[(row + k) * width + column];
    }
  }
  __syncthreads();
  const uint64_t to_column = blockIdx.y * uint64_t{32} + threadIdx.x;
  const uint64_t to_row = blockIdx.x * uint64_t{32} + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    if (to_column < height && to_row + k < width) {
      to[(to_row + k) * height + to_column] = tile[threadIdx.x][threadIdx.y + k];
    }
  }
}

__global__ void histogram(const uint4* data, uint64_t count, unsigned long long* counts) {
  __shared__ unsigned bins[8][256];
  unsigned* const own = bins[threadIdx.x / 32];
  for (unsigned i = threadIdx.x; i < 8 * 256; i += kThreads) bins[0][i] = 0;
  __syncthreads();
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += uint64_t{gridDim.x} * kThreads) {
    const uint4 four = data[i];
#pragma unroll
    for (int k = 0; k < 32; k += 8) {
      atomicAdd(own + (four.x >> k & 255), 1U);
      atomicAdd(own + (four.y >> k & 255), 1U);
      atomicAdd(own + (four.z >> k & 255), 1U);
      atomicAdd(own + (four.w >> k & 255), 1U);
    }
  }
  __syncthreads();
  unsigned long long sum = 0;
  for (auto& of_warp : bins) sum += of_warp[threadIdx.x];
  atomicAdd(counts + threadIdx.x, sum);
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }
const float4* vectors(const float* data) { return reinterpret_cast<const float4*>(data); }
float4* vectors(float* data) { return reinterpret_cast<float4*>(data); }

}  // namespace

extern "C" {

int peer_copy(void* stream, const float* from, float* to, uint64_t count) {
  copy<<<blocks_for(count / 4), kThreads, 0, stream_of(stream)>>>(vectors(from), vectors(to),
                                                                  count / 4);
  return cudaGetLastError();
}
int peer_saxpy(void* stream, float a, const float* x, float* y, uint64_t count) {
  saxpy<<<blocks_for(count / 4), kThreads, 0, stream_of(stream)>>>(a, vectors(x), vectors(y),
                                                                   count / 4);
  return cudaGetLastError();
}
int peer_add(void* stream, const float* x, const float* y, float* out, uint64_t count) {
  add<<<blocks_for(count / 4), kThreads, 0, stream_of(stream)>>>(vectors(x), vectors(y),
                                                                 vectors(out), count / 4);
  return cudaGetLastError();
}
int peer_gelu(void* stream, const float* x, float* out, uint64_t count) {
  gelu<<<blocks_for(count / 4), kThreads, 0, stream_of(stream)>>>(vectors(x), vectors(out),
                                                                  count / 4);
  return cudaGetLastError();
}
int peer_sum(void* stream, const float* values, float* sums, float* result, uint64_t count) {
  const auto blocks = static_cast<unsigned>((count + 16383) / 16384);
  const unsigned last = (blocks + 16383) / 16384;
  sum_blocks<<<blocks, kThreads, 0, stream_of(stream)>>>(vectors(values), sums, count / 4);
  sum_blocks<<<last, kThreads, 0, stream_of(stream)>>>(vectors(sums), result, blocks / 4);
  return cudaGetLastError();
}
int peer_transpose(void* stream, const uint32_t* from, uint32_t* to, uint64_t width,
                   uint64_t height) {
  const dim3 blocks(static_cast<unsigned>((width + 31) / 32),
                    static_cast<unsigned>((height + 31) / 32));
  transpose<<<blocks, dim3(32, 8), 0, stream_of(stream)>>>(from, to, width, height);
  return cudaGetLastError();
}
int peer_histogram(void* stream, const void* data, uint64_t size, unsigned long long* counts) {
  if (const cudaError_t error = cudaMemsetAsync(counts, 0, 256 * sizeof *counts, stream_of(stream));
      error != cudaSuccess) {
    return error;
  }
  histogram<<<1056, kThreads, 0, stream_of(stream)>>>(static_cast<const uint4*>(data), size / 16,
                                                      counts);
  return cudaGetLastError();
}

}  // extern "C"
