// Byte planes, bit planes and bf16 parts (codec/planes.h), from device memory to device memory.
//
// Bytes: a thread moves four elements, so that a warp reads whole lines and writes 128 bytes of
// each plane. Bits: a warp turns 32 elements into a word of each plane by transposing a 32 x 32
// matrix of bits, one row a lane, in five exchanges (Warren, Hacker's Delight, 7-3), which is its
// own inverse. Planes may begin at any address: words go by bytes where they are not aligned.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "codec/bf16.h"
#include "device/on_device.h"

namespace hoist::codec {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarp = 32;
constexpr uint64_t kMostBlocks = 132 * 64;

unsigned blocks_for(uint64_t threads) {
  return static_cast<unsigned>(
      std::clamp<uint64_t>((threads + kThreads - 1) / kThreads, 1, kMostBlocks));
}

__device__ uint64_t thread_index() { return uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ uint64_t thread_count() { return uint64_t{gridDim.x} * kThreads; }

__device__ bool is_aligned(const void* at) { return reinterpret_cast<uintptr_t>(at) % 4 == 0; }

// Up to four bytes at any address.
__device__ uint32_t load_word(const uint8_t* at, unsigned bytes) {
  if (bytes == 4 && is_aligned(at)) return *reinterpret_cast<const uint32_t*>(at);
  uint32_t word = 0;
  for (unsigned i = 0; i < bytes; ++i) word |= uint32_t{at[i]} << 8 * i;
  return word;
}

__device__ void store_word(uint8_t* at, uint32_t word, unsigned bytes) {
  if (bytes == 4 && is_aligned(at)) {
    *reinterpret_cast<uint32_t*>(at) = word;
    return;
  }
  for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(word >> 8 * i);
}

// The bytes of four elements, as 32-bit words: word i holds bytes 4 i to 4 i + 3. Four elements
// begin at a multiple of their size, so they are moved in the widest accesses.
template <unsigned kWidth>
struct alignas(kWidth == 2 ? 8 : 16) Four {
  uint32_t words[kWidth];
  __device__ uint32_t byte(unsigned i) const { return words[i / 4] >> 8 * (i % 4) & 0xff; }
};

template <unsigned kWidth>
__device__ Four<kWidth> load_elements(const uint8_t* from, unsigned elements) {
  if (elements == 4) return *reinterpret_cast<const Four<kWidth>*>(from);
  Four<kWidth> four{};
#pragma unroll
  for (unsigned i = 0; i < 4 * kWidth; ++i) {
    if (i < elements * kWidth) four.words[i / 4] |= uint32_t{from[i]} << 8 * (i % 4);
  }
  return four;
}

template <unsigned kWidth>
__device__ void store_elements(uint8_t* to, const Four<kWidth>& four, unsigned elements) {
  if (elements == 4) {
    *reinterpret_cast<Four<kWidth>*>(to) = four;
    return;
  }
#pragma unroll
  for (unsigned i = 0; i < 4 * kWidth; ++i) {
    if (i < elements * kWidth) to[i] = static_cast<uint8_t>(four.byte(i));
  }
}

template <unsigned kWidth, bool kMerge>
__global__ void __launch_bounds__(kThreads)
    move_bytes(const uint8_t* in, uint8_t* out, uint64_t size) {
  const uint64_t count = size / kWidth;
  for (uint64_t first = 4 * thread_index(); first < count; first += 4 * thread_count()) {
    const unsigned elements = count - first < 4 ? static_cast<unsigned>(count - first) : 4;
    if constexpr (kMerge) {
      uint32_t planes[kWidth];
#pragma unroll
      for (unsigned b = 0; b < kWidth; ++b) planes[b] = load_word(in + b * count + first, elements);
      Four<kWidth> four{};
#pragma unroll
      for (unsigned i = 0; i < 4 * kWidth; ++i) {
        four.words[i / 4] |= (planes[i % kWidth] >> 8 * (i / kWidth) & 0xff) << 8 * (i % 4);
      }
      store_elements(out + first * kWidth, four, elements);
    } else {
      const Four<kWidth> four = load_elements<kWidth>(in + first * kWidth, elements);
#pragma unroll
      for (unsigned b = 0; b < kWidth; ++b) {
        uint32_t plane = 0;
        for (unsigned e = 0; e < 4; ++e) plane |= four.byte(e * kWidth + b) << 8 * e;
        store_word(out + b * count + first, plane, elements);
      }
    }
  }
  // Bytes behind the last whole element keep their places.
  const uint64_t tail = count * kWidth + thread_index();
  if (tail < size) out[tail] = in[tail];
}

// Row r of the matrix in lane r, column c in bit c; afterwards transposed.
__device__ uint32_t transpose_bits(uint32_t row, unsigned lane) {
  constexpr uint32_t kLow[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
#pragma unroll
  for (int step = 4; step >= 0; --step) {
    const unsigned distance = 1u << step;
    const uint32_t low = kLow[step];
    const uint32_t other = __shfl_xor_sync(~0u, row, distance);
    row = (lane & distance) == 0 ? (row & low) | (other & low) << distance
                                 : (row & ~low) | (other & ~low) >> distance;
  }
  return row;
}

// A warp takes 32 groups of 32 elements: 32 words of each plane, which pass through shared memory
// so that a warp reads and writes whole lines on both sides. Rows of 33 words keep the banks apart.
template <typename T, bool kMerge>
__global__ void __launch_bounds__(kThreads)
    move_bits(const uint8_t* in, uint8_t* out, uint64_t count) {
  constexpr unsigned kBits = 8 * sizeof(T);
  constexpr unsigned kElements = kWarp * kWarp;  // a warp's at a time
  __shared__ uint32_t words_of_warps[kThreads / kWarp][kBits][kWarp + 1];
  auto& words = words_of_warps[threadIdx.x / kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const uint64_t plane_bytes = (count + 7) / 8;
  const uint64_t warps = thread_count() / kWarp;
  for (uint64_t first = thread_index() / kWarp * kElements; first < count;
       first += warps * kElements) {
    // This lane's word of every plane, as far as the plane goes.
    const uint64_t at = first / 8 + 4 * lane;
    const unsigned bytes = at >= plane_bytes      ? 0
                           : plane_bytes - at < 4 ? unsigned(plane_bytes - at)
                                                  : 4;
    if constexpr (kMerge) {
#pragma unroll 8
      for (unsigned plane = 0; plane < kBits; ++plane) {
        words[plane][lane] = load_word(in + plane * plane_bytes + at, bytes);
      }
      __syncwarp();
    }
#pragma unroll 8
    for (unsigned group = 0; group < kWarp; ++group) {
      const uint64_t element = first + kWarp * group + lane;
      if constexpr (kMerge) {
        const uint32_t row = transpose_bits(lane < kBits ? words[lane][group] : 0, lane);
        if (element < count) reinterpret_cast<T*>(out)[element] = static_cast<T>(row);
      } else {
        const uint32_t row = element < count ? reinterpret_cast<const T*>(in)[element] : 0;
        const uint32_t column = transpose_bits(row, lane);
        if (lane < kBits) words[lane][group] = column;
      }
    }
    __syncwarp();
    if constexpr (!kMerge) {
#pragma unroll 8
      for (unsigned plane = 0; plane < kBits; ++plane) {
        store_word(out + plane * plane_bytes + at, words[plane][lane], bytes);
      }
      __syncwarp();
    }
  }
}

// Eight values a thread.
__global__ void __launch_bounds__(kThreads)
    split_bf16(const uint16_t* values, uint64_t count, uint8_t* exponents, uint8_t* sign_mantissa) {
  const uint64_t whole = count / 8;
  for (uint64_t i = thread_index(); i < whole; i += thread_count()) {
    const uint4 four = reinterpret_cast<const uint4*>(values)[i];
    const uint32_t words[] = {four.x, four.y, four.z, four.w};
    uint64_t exponent = 0;
    uint64_t rest = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const auto value = static_cast<uint16_t>(words[k / 2] >> 16 * (k % 2));
      exponent |= uint64_t{bf16_exponent(value)} << 8 * k;
      rest |= uint64_t{bf16_sign_mantissa(value)} << 8 * k;
    }
    reinterpret_cast<uint64_t*>(exponents)[i] = exponent;
    reinterpret_cast<uint64_t*>(sign_mantissa)[i] = rest;
  }
  const uint64_t tail = 8 * whole + thread_index();
  if (tail < count) {
    exponents[tail] = bf16_exponent(values[tail]);
    sign_mantissa[tail] = bf16_sign_mantissa(values[tail]);
  }
}

__global__ void __launch_bounds__(kThreads)
    merge_bf16(const uint8_t* exponents, const uint8_t* sign_mantissa, uint64_t count,
               uint16_t* values) {
  const uint64_t whole = count / 8;
  for (uint64_t i = thread_index(); i < whole; i += thread_count()) {
    const uint64_t exponent = reinterpret_cast<const uint64_t*>(exponents)[i];
    const uint64_t rest = reinterpret_cast<const uint64_t*>(sign_mantissa)[i];
    uint32_t words[4] = {};
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const uint16_t value =
          bf16_join(static_cast<uint8_t>(exponent >> 8 * k), static_cast<uint8_t>(rest >> 8 * k));
      words[k / 2] |= uint32_t{value} << 16 * (k % 2);
    }
    reinterpret_cast<uint4*>(values)[i] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  const uint64_t tail = 8 * whole + thread_index();
  if (tail < count) values[tail] = bf16_join(exponents[tail], sign_mantissa[tail]);
}

template <bool kMerge>
cudaError_t launch_bytes(cudaStream_t on, const void* in, void* out, uint64_t size,
                         unsigned width) {
  const auto* from = static_cast<const uint8_t*>(in);
  auto* to = static_cast<uint8_t*>(out);
  const unsigned blocks = blocks_for(size / width / 4);
  switch (width) {
    case 2:
      move_bytes<2, kMerge><<<blocks, kThreads, 0, on>>>(from, to, size);
      break;
    case 4:
      move_bytes<4, kMerge><<<blocks, kThreads, 0, on>>>(from, to, size);
      break;
    default:
      move_bytes<8, kMerge><<<blocks, kThreads, 0, on>>>(from, to, size);
  }
  return cudaGetLastError();
}

template <bool kMerge>
cudaError_t launch_bits(cudaStream_t on, const void* in, void* out, uint64_t count,
                        unsigned width) {
  const auto* from = static_cast<const uint8_t*>(in);
  auto* to = static_cast<uint8_t*>(out);
  const unsigned blocks = blocks_for(count / kWarp);
  switch (width) {
    case 1:
      move_bits<uint8_t, kMerge><<<blocks, kThreads, 0, on>>>(from, to, count);
      break;
    case 2:
      move_bits<uint16_t, kMerge><<<blocks, kThreads, 0, on>>>(from, to, count);
      break;
    default:
      move_bits<uint32_t, kMerge><<<blocks, kThreads, 0, on>>>(from, to, count);
  }
  return cudaGetLastError();
}

}  // namespace
}  // namespace hoist::codec

extern "C" {

using namespace hoist::codec;
using hoist::device::on_device;

int hoist_cuda_split_bytes(int device, void* stream, const void* in, void* out, uint64_t size,
                           unsigned width) {
  return on_device(device, [=] {
    return launch_bytes<false>(static_cast<cudaStream_t>(stream), in, out, size, width);
  });
}

int hoist_cuda_merge_bytes(int device, void* stream, const void* in, void* out, uint64_t size,
                           unsigned width) {
  return on_device(device, [=] {
    return launch_bytes<true>(static_cast<cudaStream_t>(stream), in, out, size, width);
  });
}

int hoist_cuda_split_bits(int device, void* stream, const void* in, void* out, uint64_t count,
                          unsigned width) {
  return on_device(device, [=] {
    return launch_bits<false>(static_cast<cudaStream_t>(stream), in, out, count, width);
  });
}

int hoist_cuda_merge_bits(int device, void* stream, const void* in, void* out, uint64_t count,
                          unsigned width) {
  return on_device(device, [=] {
    return launch_bits<true>(static_cast<cudaStream_t>(stream), in, out, count, width);
  });
}

int hoist_cuda_split_bf16(int device, void* stream, const void* values, uint64_t count,
                          void* exponents, void* sign_mantissa) {
  return on_device(device, [=] {
    split_bf16<<<blocks_for(count / 8), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const uint16_t*>(values), count, static_cast<uint8_t*>(exponents),
        static_cast<uint8_t*>(sign_mantissa));
    return cudaGetLastError();
  });
}

int hoist_cuda_merge_bf16(int device, void* stream, const void* exponents,
                          const void* sign_mantissa, uint64_t count, void* values) {
  return on_device(device, [=] {
    merge_bf16<<<blocks_for(count / 8), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const uint8_t*>(exponents), static_cast<const uint8_t*>(sign_mantissa), count,
        static_cast<uint16_t*>(values));
    return cudaGetLastError();
  });
}

}  // extern "C"
