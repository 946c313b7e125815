// The bias and the activation of a product that the library made.
#include <cuda_runtime.h>

#include "device/on_device.h"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/product_end.cuh"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kThreads = 256;

// A thread a column of y, and every gridDim.y-th row.
__global__ void __launch_bounds__(kThreads) finish_rows(ProductJob product, uint32_t columns) {
  const uint32_t column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= columns) return;
  const float bias = product.bias == nullptr ? 0 : f32_of(product.bias[column]);
  for (uint32_t i = blockIdx.y; i < product.count; i += gridDim.y) {
    uint16_t& place = product.y[i * product.y_stride + column];
    const float sum = product.bias == nullptr ? f32_of(place) : f32_of(place) + bias;
    place = bf16_of(activate(sum, product.activation));
  }
}

}  // namespace
}  // namespace hoist::tensors::packed

extern "C" {

namespace packed = hoist::tensors::packed;

// `columns`: of y.
int hoist_cuda_packed_finish(int device, void* stream, const packed::ProductJob* product,
                             uint32_t columns) {
  return hoist::device::on_device(device, [=] {
    constexpr uint32_t kMostRows = 65535;
    const dim3 grid((columns + packed::kThreads - 1) / packed::kThreads,
                    product->count < kMostRows ? product->count : kMostRows);
    packed::finish_rows<<<grid, packed::kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*product,
                                                                                          columns);
    return cudaGetLastError();
  });
}

}  // extern "C"
