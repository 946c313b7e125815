// How products begin and end, whatever multiplies.
#pragma once

#include <cstdint>

#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"

namespace hoist::tensors::packed {

__device__ inline float f32_of(uint32_t bf16) { return __uint_as_float(bf16 << 16); }

__device__ inline uint16_t bf16_of(float value) {
  uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}

__device__ __forceinline__ void let_others_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ void wait_for_those_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Where an escape's +0 met an infinity or a NaN of x: the row's sum, weight by weight.
__device__ __noinline__ inline float exact_sum(const MatrixJob& matrix, uint32_t row,
                                               const uint16_t* x) {
  const uint32_t base = base_of(matrix.factors[row / kTileRows]);
  const auto* const tiles =
      reinterpret_cast<const uint16_t*>(lane_tile(matrix, row / kTileRows, 0, 0));
  uint32_t next = matrix.row_escapes[row];
  const uint32_t end = matrix.row_escapes[row + 1];
  float sum = 0;
  for (uint32_t column = 0; column < matrix.columns; ++column) {
    const uint16_t* const tile = tiles + uint64_t{column / kTileColumns} * (kTileBytes / 2);
    uint32_t weight = weight_at(tile, base, row % kTileRows, column % kTileColumns);
    if (next < end && matrix.escapes[next].column == column) weight = matrix.escapes[next++].bits;
    sum += f32_of(weight) * f32_of(x[column]);
  }
  return sum;
}

// A row's escapes. The first two are loaded early, so that the end need not wait for memory.
struct RowEscapes {
  uint32_t begin = 0;
  uint32_t end = 0;
  Escape first = {};
  Escape second = {};

  __device__ void find(const MatrixJob& matrix, uint32_t row) {
    begin = matrix.row_escapes[row];
    end = matrix.row_escapes[row + 1];
  }
  __device__ void load(const MatrixJob& matrix) {
    if (begin < end) first = matrix.escapes[begin];
    if (begin + 1 < end) second = matrix.escapes[begin + 1];
  }
  __device__ float sum(const MatrixJob& matrix, const uint16_t* x) const {
    float all = 0;
    if (begin < end) all += f32_of(first.bits) * f32_of(x[first.column]);
    if (begin + 1 < end) all += f32_of(second.bits) * f32_of(x[second.column]);
    for (uint32_t i = begin + 2; i < end; ++i) {
      all += f32_of(matrix.escapes[i].bits) * f32_of(x[matrix.escapes[i].column]);
    }
    return all;
  }
};

__device__ inline void write_result(const MatrixJob& matrix, const ProductJob& product,
                                    const RowEscapes& escapes, uint32_t row, uint32_t i,
                                    float sum) {
  const uint16_t* const x = product.x + i * product.x_stride;
  if (escapes.begin < escapes.end) {
    sum += escapes.sum(matrix, x);
    if (!isfinite(sum)) sum = exact_sum(matrix, row, x);
  }
  if (product.bias != nullptr) sum += f32_of(product.bias[row]);
  product.y[i * product.y_stride + row] = bf16_of(activate(sum, product.activation));
}

}  // namespace hoist::tensors::packed
