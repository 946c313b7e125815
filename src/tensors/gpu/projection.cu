// Rebuilds random projections (tensors/transform/random_projection.h): dealt coefficients are
// gathered into shared memory, a block of up to 2^14, go through the Walsh-Hadamard transform
// there, and become elements on the way out.
#include <cuda_runtime.h>

#include <cstdint>

#include "tensors/gpu/transform_values.cuh"
#include "tensors/transform/dealing.h"

namespace hoist::tensors {
namespace {

// Four groups a thread, which one block of the generator serves.
__global__ void __launch_bounds__(kSmallBlock)
    fill_shifts(uint64_t seed, uint32_t fragments, uint64_t groups, uint8_t* shifts) {
  const SeededRng rng(seed, streams::kDeal);
  const uint64_t block = uint64_t{blockIdx.x} * kSmallBlock + threadIdx.x;
  if (4 * block >= groups) return;
  const PhiloxBlock random = rng.block(block);
  for (unsigned i = 0; i < 4 && 4 * block + i < groups; ++i) {
    shifts[4 * block + i] = static_cast<uint8_t>(uint64_t{random.words[i]} * fragments >> 32);
  }
}

__global__ void __launch_bounds__(kSmallBlock)
    fill_signs(uint64_t seed, uint64_t words, uint32_t* signs) {
  const SeededRng rng(seed, streams::kSigns);
  const uint64_t block = uint64_t{blockIdx.x} * kSmallBlock + threadIdx.x;
  if (4 * block >= words) return;
  const PhiloxBlock random = rng.block(block);
  for (unsigned i = 0; i < 4 && 4 * block + i < words; ++i) signs[4 * block + i] = random.words[i];
}

struct ProjectionBlock {
  uint64_t first;
  uint32_t bits;
};

// Whole blocks, then the powers of two that the rest is the sum of, largest first.
__device__ ProjectionBlock projection_block(uint64_t elements, uint64_t number) {
  const uint64_t whole = elements >> kProjectionBits;
  if (number < whole) return {number << kProjectionBits, kProjectionBits};
  uint64_t first = whole << kProjectionBits;
  auto rest = static_cast<uint32_t>(elements - first);
  for (uint64_t skipped = whole;; ++skipped) {
    const uint32_t bits = 31 - static_cast<uint32_t>(__clz(static_cast<int>(rest)));
    if (skipped == number) return {first, bits};
    first += uint64_t{1} << bits;
    rest -= 1u << bits;
  }
}

// The Walsh-Hadamard transform of a block, without its scale: two bits of the index at a time.
__device__ void walsh_hadamard(float* values, uint32_t bits) {
  uint32_t done = 0;
  for (; done + 2 <= bits; done += 2) {
    const uint32_t distance = 1u << done;
    for (uint32_t i = threadIdx.x; i < 1u << (bits - 2); i += kThreads) {
      const uint32_t at = (i >> done) << (done + 2) | (i & (distance - 1));
      const float a = values[at];
      const float b = values[at + distance];
      const float c = values[at + 2 * distance];
      const float d = values[at + 3 * distance];
      values[at] = (a + b) + (c + d);
      values[at + distance] = (a - b) + (c - d);
      values[at + 2 * distance] = (a + b) - (c + d);
      values[at + 3 * distance] = (a - b) - (c - d);
    }
    __syncthreads();
  }
  if (done < bits) {
    const uint32_t distance = 1u << done;
    for (uint32_t i = threadIdx.x; i < distance; i += kThreads) {
      const float a = values[i];
      const float b = values[i + distance];
      values[i] = a + b;
      values[i + distance] = a - b;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads)
    unproject_blocks(DealtValues dealt, uint64_t elements, const uint32_t* signs,
                     ElementScale scale, void* out) {
  extern __shared__ __align__(16) uint8_t memory[];
  auto* const values = reinterpret_cast<float*>(memory);
  const ProjectionBlock block = projection_block(elements, blockIdx.x);
  const uint32_t size = 1u << block.bits;
  const uint64_t items = dealt.groups * dealt.count;
  for (uint32_t i = threadIdx.x; i < size; i += kThreads) {
    const uint64_t at = block.first + i;
    values[i] = at < items ? item_value(dealt, at) : common_value(dealt, at - items);
  }
  __syncthreads();
  walsh_hadamard(values, block.bits);
  const float root = 1 / sqrtf(static_cast<float>(size));
  for (uint32_t i = threadIdx.x; i < size; i += kThreads) {
    const uint64_t at = block.first + i;
    const uint32_t sign = signs[at / 32] >> (at % 32) & 1;
    const float value = values[i] * root;
    store_element(out, at, sign != 0 ? -value : value, scale);
  }
}

}  // namespace
}  // namespace hoist::tensors

extern "C" {

// `shifts` has a byte for each group.
int hoist_cuda_tensors_shifts(int device, void* stream, uint64_t seed, uint32_t fragments,
                              uint64_t groups, void* shifts) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    if (groups > 0) {
      fill_shifts<<<blocks_for((groups + 3) / 4), kSmallBlock, 0,
                    static_cast<cudaStream_t>(stream)>>>(seed, fragments, groups,
                                                         static_cast<uint8_t*>(shifts));
    }
    return cudaGetLastError();
  });
}

// `signs` has a bit for each element, in whole words.
int hoist_cuda_tensors_unproject(int device, void* stream, const hoist::tensors::DealtValues* dealt,
                                 uint64_t elements, uint64_t seed, void* signs,
                                 const hoist::tensors::ElementScale* scale, void* out) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    auto* const on = static_cast<cudaStream_t>(stream);
    constexpr size_t kShared = sizeof(float) << kProjectionBits;
    const cudaError_t allowed = allow_shared(unproject_blocks, kShared);
    if (allowed != cudaSuccess) return allowed;
    const uint64_t words = (elements + 31) / 32;
    auto* const bits = static_cast<uint32_t*>(signs);
    fill_signs<<<blocks_for((words + 3) / 4), kSmallBlock, 0, on>>>(seed, words, bits);
    const uint64_t rest = elements & ((uint64_t{1} << kProjectionBits) - 1);
    const auto blocks = static_cast<unsigned>((elements >> kProjectionBits) +
                                              static_cast<unsigned>(__builtin_popcountll(rest)));
    unproject_blocks<<<blocks, kThreads, kShared, on>>>(*dealt, elements, bits, *scale, out);
    return cudaGetLastError();
  });
}

}  // extern "C"
