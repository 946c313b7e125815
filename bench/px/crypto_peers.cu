// AES-CTR, SHA-256 and CRC-32 (bench/px/peers.h), by the same methods as the px files in
// src/ops/aes/gpu, src/ops/hash/gpu and src/ops/crc32/gpu.
#include <cuda_runtime.h>

#include "peers.h"

namespace {

__device__ __forceinline__ uint32_t left(uint32_t a, int by) { return __funnelshift_l(a, a, by); }
__device__ __forceinline__ uint32_t right(uint32_t a, int by) { return __funnelshift_r(a, a, by); }
__device__ __forceinline__ uint32_t swapped(uint32_t a) { return __byte_perm(a, 0, 0x0123); }

constexpr unsigned kAesThreads = 512;
constexpr int kDepth = 64;  // as aes::encrypt_ctr has for a GiB and more

template <int byte>
__device__ __forceinline__ uint32_t look_up(const uint32_t* entries, uint32_t word, uint32_t lane) {
  constexpr int by = 8 * byte - 5;
  return entries[((by < 0 ? word << 5 : word >> (by < 0 ? 0 : by)) & 0x1fe0) | lane];
}
__device__ __forceinline__ uint32_t column(const uint32_t* entries, uint32_t a, uint32_t b,
                                           uint32_t c, uint32_t d, uint32_t lane) {
  return look_up<0>(entries, a, lane) ^ left(look_up<1>(entries, b, lane), 8) ^
         left(look_up<2>(entries, c, lane) ^ left(look_up<3>(entries, d, lane), 8), 16);
}
__device__ __forceinline__ uint32_t last(const uint32_t* entries, uint32_t a, uint32_t b,
                                         uint32_t c, uint32_t d, uint32_t lane) {
  return (look_up<0>(entries, a, lane) >> 8 & 0xff) | (look_up<1>(entries, b, lane) & 0xff00) |
         (look_up<2>(entries, c, lane) & 0xff0000) |
         (look_up<3>(entries, d, lane) << 8 & 0xff000000);
}

// From a counter of 0.
__global__ void __launch_bounds__(kAesThreads)
    aes_ctr(const uint32_t* __restrict__ table, const uint4* __restrict__ input,
            uint4* __restrict__ output, uint64_t blocks, const uint4* __restrict__ keys,
            int rounds) {
  __shared__ uint32_t entries[8192];
  __shared__ uint4 key[15];
  for (unsigned k = threadIdx.x; k < 8192; k += kAesThreads) entries[k] = table[k / 32];
  if (threadIdx.x < 15) key[threadIdx.x] = keys[threadIdx.x];
  __syncthreads();
  const uint32_t lane = threadIdx.x % 32;
  for (uint64_t chunk = blockIdx.x * 2 + threadIdx.x / 256; chunk * kDepth * 256 < blocks;
       chunk += gridDim.x * 2) {
    const uint64_t first = chunk * kDepth * 256 + threadIdx.x % 256;
    const uint32_t s0 = key[0].x;
    const uint32_t s1 = key[0].y;
    const uint32_t s2 = swapped(static_cast<uint32_t>(first >> 32)) ^ key[0].z;
    const uint32_t s3 = swapped(static_cast<uint32_t>(first)) ^ key[0].w;
    const uint32_t t0 = column(entries, s0, s1, s2, s3, lane) ^ key[1].x;
    const uint32_t t1 = look_up<0>(entries, s1, lane) ^ left(look_up<1>(entries, s2, lane), 8) ^
                        left(look_up<3>(entries, s0, lane), 24) ^ key[1].y;
    const uint32_t t2 = column(entries, s2, s3, s0, s1, lane) ^ key[1].z;
    const uint32_t t3 = column(entries, s3, s0, s1, s2, lane) ^ key[1].w;
    const uint32_t u0 = look_up<0>(entries, t0, lane) ^ left(look_up<2>(entries, t2, lane), 16) ^
                        left(look_up<3>(entries, t3, lane), 24) ^ key[2].x;
    const uint32_t u1 = left(look_up<1>(entries, t2, lane), 8) ^
                        left(look_up<2>(entries, t3, lane), 16) ^
                        left(look_up<3>(entries, t0, lane), 24) ^ key[2].y;
    const uint32_t u2 = look_up<0>(entries, t2, lane) ^ left(look_up<1>(entries, t3, lane), 8) ^
                        left(look_up<2>(entries, t0, lane), 16) ^ key[2].z;
    const uint32_t u3 = look_up<0>(entries, t3, lane) ^ left(look_up<1>(entries, t0, lane), 8) ^
                        left(look_up<3>(entries, t2, lane), 24) ^ key[2].w;
    for (int row = 0; row < kDepth; ++row) {
      const uint64_t i = first + row * 256;
      if (i >= blocks) break;
      const uint32_t changing = (static_cast<uint32_t>(i) >> 8 & 0xff) << 16 ^ key[0].w;
      const uint32_t v = t1 ^ left(look_up<2>(entries, changing, lane), 16);
      uint32_t a = u0 ^ left(look_up<1>(entries, v, lane), 8);
      uint32_t b = u1 ^ look_up<0>(entries, v, lane);
      uint32_t c = u2 ^ left(look_up<3>(entries, v, lane), 24);
      uint32_t d = u3 ^ left(look_up<2>(entries, v, lane), 16);
      for (int round = 3; round < rounds; ++round) {
        const uint4 k = key[round];
        const uint32_t na = column(entries, a, b, c, d, lane) ^ k.x;
        const uint32_t nb = column(entries, b, c, d, a, lane) ^ k.y;
        const uint32_t nc = column(entries, c, d, a, b, lane) ^ k.z;
        d = column(entries, d, a, b, c, lane) ^ k.w;
        a = na;
        b = nb;
        c = nc;
      }
      const uint4 k = key[rounds];
      const uint4 text = input[i];
      output[i] = make_uint4(text.x ^ last(entries, a, b, c, d, lane) ^ k.x,
                             text.y ^ last(entries, b, c, d, a, lane) ^ k.y,
                             text.z ^ last(entries, c, d, a, b, lane) ^ k.z,
                             text.w ^ last(entries, d, a, b, c, lane) ^ k.w);
    }
  }
}

__constant__ uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__global__ void __launch_bounds__(128) sha256(const uint4* __restrict__ data, uint64_t messages,
                                              uint64_t size, uint4* __restrict__ digests) {
  const uint64_t message = uint64_t{blockIdx.x} * 128 + threadIdx.x;
  if (message >= messages) return;
  const uint4* const from = data + message * (size / 16);
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (uint64_t block = 0; block <= size / 64; ++block) {
    uint32_t w[16] = {0x80000000};
    if (block < size / 64) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const uint4 four = from[block * 4 + k];
        w[4 * k] = swapped(four.x);
        w[4 * k + 1] = swapped(four.y);
        w[4 * k + 2] = swapped(four.z);
        w[4 * k + 3] = swapped(four.w);
      }
    } else {
      w[14] = static_cast<uint32_t>(size >> 29);
      w[15] = static_cast<uint32_t>(size << 3);
    }
    uint32_t s[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) s[k] = h[k];
#pragma unroll
    for (int k = 0; k < 64; ++k) {
      if (k >= 16) {
        const uint32_t a = w[(k + 14) % 16];
        const uint32_t b = w[(k + 1) % 16];
        w[k % 16] += (right(a, 17) ^ right(a, 19) ^ a >> 10) + w[(k + 9) % 16] +
                     (right(b, 7) ^ right(b, 18) ^ b >> 3);
      }
      const uint32_t e = s[4];
      const uint32_t a = s[0];
      const uint32_t t = s[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) +
                         ((e & s[5]) ^ (~e & s[6])) + kRounds[k] + w[k % 16];
      const uint32_t u =
          (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
#pragma unroll
      for (int j = 7; j > 0; --j) s[j] = s[j - 1];
      s[4] += t;
      s[0] = t + u;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) h[k] += s[k];
  }
  digests[message * 2] = make_uint4(swapped(h[0]), swapped(h[1]), swapped(h[2]), swapped(h[3]));
  digests[message * 2 + 1] = make_uint4(swapped(h[4]), swapped(h[5]), swapped(h[6]), swapped(h[7]));
}

constexpr unsigned kCrcThreads = 512;
constexpr uint32_t kPolynomial = 0xedb88320;

__device__ uint32_t times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int k = 31; k >= 0; --k) {
    product ^= b & (0U - (a >> k & 1));
    b = b >> 1 ^ (kPolynomial & (0U - (b & 1)));
  }
  return product;
}
// x to the power of so many bytes' bits.
__device__ uint32_t power(uint64_t bytes) {
  uint32_t product = 0x80000000;
  uint32_t square = 0x00800000;
  for (; bytes > 0; bytes >>= 1) {
    if (bytes & 1) product = times(product, square);
    square = times(square, square);
  }
  return product;
}

__global__ void __launch_bounds__(kCrcThreads)
    crc32(const uint4* __restrict__ data, uint64_t size, int64_t steps, uint32_t* result) {
  __shared__ uint32_t table[8192];
  __shared__ uint32_t passing[1024];
  for (unsigned k = threadIdx.x; k < 8192; k += kCrcThreads) {
    uint32_t entry = k / 32;
    for (int j = 0; j < 8; ++j) entry = entry >> 1 ^ (kPolynomial & (0U - (entry & 1)));
    table[k] = entry;
  }
  const uint32_t others = power((kCrcThreads - 1) * 64);
  for (unsigned k = threadIdx.x; k < 1024; k += kCrcThreads) {
    passing[k] = times(k % 256 << 8 * (k / 256), others);
  }
  __syncthreads();
  const uint32_t lane = threadIdx.x % 32;
  const int64_t slots = static_cast<int64_t>(gridDim.x) * steps * kCrcThreads;
  const int64_t padding = slots - static_cast<int64_t>(size / 64);
  const int64_t first =
      static_cast<int64_t>(blockIdx.x) * steps * kCrcThreads + threadIdx.x - padding;
  uint32_t sum = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t piece = first + step * kCrcThreads;
    if (piece < 0) continue;
    uint4 four[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) four[k] = data[piece * 4 + k];
    sum = passing[sum & 255] ^ passing[256 + (sum >> 8 & 255)] ^ passing[512 + (sum >> 16 & 255)] ^
          passing[768 + (sum >> 24)];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint32_t words[4] = {four[k].x, four[k].y, four[k].z, four[k].w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sum ^= words[j];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
          sum = table[(sum << 5 & 0x1fe0) | lane] ^ sum >> 8;
        }
      }
    }
  }
  // Each thread's CRC goes past all that follows its last piece; a few thousand operations once.
  const uint64_t behind = static_cast<uint64_t>(gridDim.x - 1 - blockIdx.x) * steps * kCrcThreads +
                          kCrcThreads - 1 - threadIdx.x;
  sum = times(sum, power(behind * 64));
  if (blockIdx.x == 0 && threadIdx.x == 0) sum ^= times(~0U, power(size)) ^ ~0U;
  atomicXor(result, sum);
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

int processors() {
  int device = 0;
  int count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

}  // namespace

extern "C" {

int peer_aes_ctr(void* stream, const uint32_t* table, const void* input, void* output,
                 uint64_t blocks, const uint32_t* keys, int rounds) {
  aes_ctr<<<processors() * 4, kAesThreads, 0, stream_of(stream)>>>(
      table, static_cast<const uint4*>(input), static_cast<uint4*>(output), blocks,
      reinterpret_cast<const uint4*>(keys), rounds);
  return cudaGetLastError();
}

int peer_sha256(void* stream, const void* data, uint64_t messages, uint64_t size, void* digests) {
  sha256<<<static_cast<unsigned>((messages + 127) / 128), 128, 0, stream_of(stream)>>>(
      static_cast<const uint4*>(data), messages, size, static_cast<uint4*>(digests));
  return cudaGetLastError();
}

int peer_crc32(void* stream, const void* data, uint64_t size, uint32_t* result) {
  if (const cudaError_t error = cudaMemsetAsync(result, 0, sizeof *result, stream_of(stream));
      error != cudaSuccess) {
    return error;
  }
  const int64_t steps = static_cast<int64_t>((size + 32767) / 32768);
  const int64_t most = processors() * 2;
  const int64_t of_each = (steps + most - 1) / most;
  const auto blocks = static_cast<unsigned>((steps + of_each - 1) / of_each);
  crc32<<<blocks, kCrcThreads, 0, stream_of(stream)>>>(static_cast<const uint4*>(data), size,
                                                       of_each, result);
  return cudaGetLastError();
}

}  // extern "C"
