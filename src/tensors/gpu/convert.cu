// Converts and dequantises elements (convert_gpu.h).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "array/dtypes.h"
#include "device/on_device.h"

namespace hoist::tensors {
namespace {

using array::DType;

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 132 * 32;

template <DType kKind>
struct Number;
template <>
struct Number<DType::i8> {
  using Type = int8_t;
  static __device__ float widen(Type value) { return value; }
};
template <>
struct Number<DType::u8> {
  using Type = uint8_t;
  static __device__ float widen(Type value) { return value; }
};
template <>
struct Number<DType::f8_e4m3> {
  using Type = __nv_fp8_e4m3;
  static __device__ float widen(Type value) { return static_cast<float>(value); }
};
template <>
struct Number<DType::f8_e5m2> {
  using Type = __nv_fp8_e5m2;
  static __device__ float widen(Type value) { return static_cast<float>(value); }
};
template <>
struct Number<DType::f16> {
  using Type = __half;
  static __device__ float widen(Type value) { return __half2float(value); }
  static __device__ Type narrow(float value) { return __float2half_rn(value); }
};
template <>
struct Number<DType::bf16> {
  using Type = __nv_bfloat16;
  static __device__ float widen(Type value) { return __bfloat162float(value); }
  static __device__ Type narrow(float value) { return __float2bfloat16_rn(value); }
};
template <>
struct Number<DType::f32> {
  using Type = float;
  static __device__ float widen(Type value) { return value; }
  static __device__ Type narrow(float value) { return value; }
};

struct Blocks {
  uint64_t size;  // 0: no scales
  const float* scales;
  const float* zeros;
};

template <DType kIn, DType kOut>
__global__ void __launch_bounds__(kThreads)
    convert(const void* in, uint64_t count, Blocks blocks, void* out) {
  const auto* const from = static_cast<const typename Number<kIn>::Type*>(in);
  auto* const to = static_cast<typename Number<kOut>::Type*>(out);
  const uint64_t step = uint64_t{gridDim.x} * kThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    float value = Number<kIn>::widen(from[i]);
    if (blocks.size != 0) {
      // Rounded after each step, as on the CPU.
      if (blocks.zeros != nullptr) value = __fsub_rn(value, blocks.zeros[i / blocks.size]);
      value = __fmul_rn(value, blocks.scales[i / blocks.size]);
    }
    to[i] = Number<kOut>::narrow(value);
  }
}

using Kernel = void (*)(const void*, uint64_t, Blocks, void*);

template <DType kIn>
Kernel kernel_to(DType out) {
  switch (out) {
    case DType::f16:
      return convert<kIn, DType::f16>;
    case DType::bf16:
      return convert<kIn, DType::bf16>;
    case DType::f32:
      return convert<kIn, DType::f32>;
    default:
      return nullptr;
  }
}

Kernel kernel_for(DType in, DType out) {
  switch (in) {
    case DType::i8:
      return kernel_to<DType::i8>(out);
    case DType::u8:
      return kernel_to<DType::u8>(out);
    case DType::f8_e4m3:
      return kernel_to<DType::f8_e4m3>(out);
    case DType::f8_e5m2:
      return kernel_to<DType::f8_e5m2>(out);
    case DType::f16:
      return kernel_to<DType::f16>(out);
    case DType::bf16:
      return kernel_to<DType::bf16>(out);
    case DType::f32:
      return kernel_to<DType::f32>(out);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace hoist::tensors

extern "C" int hoist_cuda_tensors_convert(int device, void* stream, hoist::array::DType from,
                                          hoist::array::DType to, const void* in, uint64_t count,
                                          uint64_t block, const void* scales, const void* zeros,
                                          void* out) {
  using namespace hoist::tensors;
  const Kernel kernel = kernel_for(from, to);
  if (kernel == nullptr) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  return hoist::device::on_device(device, [&] {
    const uint64_t blocks = (count + kThreads - 1) / kThreads;
    kernel<<<static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads, 0,
             static_cast<cudaStream_t>(stream)>>>(
        in, count,
        Blocks{block, static_cast<const float*>(scales), static_cast<const float*>(zeros)}, out);
    return cudaGetLastError();
  });
}
