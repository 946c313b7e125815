// Coefficients as fragments hold them, elements as tensors do, and what all kernels of transforms
// are launched with.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "device/on_device.h"
#include "tensors/gpu/transform_job.h"

namespace hoist::tensors {

inline constexpr unsigned kThreads = 512;
inline constexpr unsigned kSmallBlock = 256;

__device__ inline float load_value(const uint8_t* values, uint64_t index, DType kind) {
  switch (kind) {
    case DType::f16:
      return __half2float(reinterpret_cast<const __half*>(values)[index]);
    case DType::bf16:
      return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(values)[index]);
    default:
      return reinterpret_cast<const float*>(values)[index];
  }
}

// Scales a finite value: not yet rounded to the element's type.
__device__ inline float scaled_element(float value, const ElementScale& scale) {
  return fmaxf(-scale.largest, fminf(scale.largest, value * scale.first * scale.second)) + 0.0F;
}

__device__ inline void store_rounded(void* out, uint64_t index, float value, DType kind) {
  switch (kind) {
    case DType::f16:
      static_cast<__half*>(out)[index] = __float2half_rn(value);
      break;
    case DType::bf16:
      static_cast<__nv_bfloat16*>(out)[index] = __float2bfloat16_rn(value);
      break;
    default:
      static_cast<float*>(out)[index] = value;
  }
}

__device__ inline void store_element(void* out, uint64_t index, float value,
                                     const ElementScale& scale) {
  store_rounded(out, index, scaled_element(value, scale), scale.kind);
}

__device__ inline float common_value(const DealtValues& dealt, uint64_t index) {
  return load_value(dealt.any + dealt.common_offset, index, dealt.precision);
}

__device__ inline float item_value(const DealtValues& dealt, uint64_t item) {
  uint64_t group;
  uint32_t place;
  if (item <= 0xffffffff) {  // 64-bit divisions take four times as long
    group = static_cast<uint32_t>(item) / dealt.count;
    place = static_cast<uint32_t>(item) % dealt.count;
  } else {
    group = item / dealt.count;
    place = static_cast<uint32_t>(item % dealt.count);
  }
  const uint32_t shift = dealt.shifts[group];
  const uint32_t number = place >= shift ? place - shift : place + dealt.count - shift;
  const uint8_t* const fragment = dealt.fragments[number];
  return fragment == nullptr ? 0
                             : load_value(fragment + dealt.dealt_offset, group, dealt.precision);
}

inline unsigned blocks_for(uint64_t threads) {
  return static_cast<unsigned>((threads + kSmallBlock - 1) / kSmallBlock);
}

template <typename Kernel>
cudaError_t allow_shared(Kernel kernel, size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(bytes));
}

}  // namespace hoist::tensors
