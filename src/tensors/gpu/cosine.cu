// Rebuilds spectral tensors (tensors/transform/spectral.h) by the inverse cosine transform: rows,
// transposed, rows again, transposed. Dealt coefficients are gathered on the way into the first
// pass, and become elements on the way out of the last.
//
// A block takes two sequences as the real and the imaginary part of one complex one (J. Makhoul, "A
// fast cosine transform in one and two dimensions", 1980), whose Fourier transform goes through
// shared memory in stages of radix 2 to 8 (Stockham's order, which needs no bit reversal).
#include <cuda_runtime.h>

#include <cstdint>

#include "tensors/gpu/transform_values.cuh"

namespace hoist::tensors {
namespace {

// exp(2 pi i k / length), then exp(pi i k / (2 length)).
__global__ void __launch_bounds__(kSmallBlock) fill_roots(uint32_t length, float2* roots) {
  const uint32_t k = blockIdx.x * kSmallBlock + threadIdx.x;
  if (k >= length) return;
  double sine;
  double cosine;
  sincospi(2.0 * k / length, &sine, &cosine);
  roots[k] = make_float2(static_cast<float>(cosine), static_cast<float>(sine));
  sincospi(0.5 * k / length, &sine, &cosine);
  roots[length + k] = make_float2(static_cast<float>(cosine), static_cast<float>(sine));
}

__device__ __forceinline__ float2 operator+(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
__device__ __forceinline__ float2 operator-(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
__device__ __forceinline__ float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 times_i(float2 a) { return make_float2(-a.y, a.x); }

// exp(2 pi i k / 3), / 5, / 7.
__device__ constexpr float2 kRoots3[] = {{1, 0}, {-0.5F, 0.8660254F}, {-0.5F, -0.8660254F}};
__device__ constexpr float2 kRoots5[] = {{1, 0},
                                         {0.30901699F, 0.95105652F},
                                         {-0.80901699F, 0.58778525F},
                                         {-0.80901699F, -0.58778525F},
                                         {0.30901699F, -0.95105652F}};
__device__ constexpr float2 kRoots7[] = {{1, 0},
                                         {0.62348980F, 0.78183148F},
                                         {-0.22252093F, 0.97492791F},
                                         {-0.90096887F, 0.43388374F},
                                         {-0.90096887F, -0.43388374F},
                                         {-0.22252093F, -0.97492791F},
                                         {0.62348980F, -0.78183148F}};

template <unsigned kRadix>
__device__ __forceinline__ float2 root_of(unsigned k) {
  if constexpr (kRadix == 3) return kRoots3[k];
  if constexpr (kRadix == 5) return kRoots5[k];
  return kRoots7[k];
}

// Fourier transform of a few values, exponents positive.
template <unsigned kRadix>
__device__ __forceinline__ void transform_few(float2 (&v)[kRadix]) {
  if constexpr (kRadix == 2) {
    const float2 sum = v[0] + v[1];
    v[1] = v[0] - v[1];
    v[0] = sum;
  } else if constexpr (kRadix == 4) {
    const float2 a = v[0] + v[2];
    const float2 b = v[0] - v[2];
    const float2 c = v[1] + v[3];
    const float2 d = times_i(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
  } else if constexpr (kRadix == 8) {
    constexpr float kHalf = 0.70710678F;
    float2 even[4] = {v[0], v[2], v[4], v[6]};
    float2 odd[4] = {v[1], v[3], v[5], v[7]};
    transform_few<4>(even);
    transform_few<4>(odd);
    odd[1] = odd[1] * make_float2(kHalf, kHalf);
    odd[2] = times_i(odd[2]);
    odd[3] = odd[3] * make_float2(-kHalf, kHalf);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      v[i] = even[i] + odd[i];
      v[i + 4] = even[i] - odd[i];
    }
  } else {
    float2 result[kRadix];
#pragma unroll
    for (unsigned q = 0; q < kRadix; ++q) {
      result[q] = v[0];
#pragma unroll
      for (unsigned i = 1; i < kRadix; ++i) {
        result[q] = result[q] + v[i] * root_of<kRadix>(i * q % kRadix);
      }
    }
#pragma unroll
    for (unsigned q = 0; q < kRadix; ++q) v[q] = result[q];
  }
}

// Where value i lies: strides that are powers of two would meet in one bank.
__device__ __forceinline__ uint32_t place(uint32_t i) { return i ^ (i >> 4 & 15); }

template <unsigned kRadix>
__device__ void run_stage(const float2* in, float2* out, uint32_t length, uint32_t product,
                          const float2* roots) {
  const uint32_t butterflies = length / kRadix;
  const uint32_t step = butterflies / product;
  for (uint32_t j = threadIdx.x; j < butterflies; j += kThreads) {
    const uint32_t k = j % product;
    float2 v[kRadix];
#pragma unroll
    for (unsigned i = 0; i < kRadix; ++i) v[i] = in[place(j + i * butterflies)];
    if (product > 1) {
#pragma unroll
      for (unsigned i = 1; i < kRadix; ++i) v[i] = v[i] * __ldg(roots + i * k * step);
    }
    transform_few<kRadix>(v);
    const uint32_t to = (j - k) * kRadix + k;
#pragma unroll
    for (unsigned i = 0; i < kRadix; ++i) out[place(to + i * product)] = v[i];
  }
  __syncthreads();
}

// Gives the buffer that holds the result.
__device__ float2* fourier_transform(float2* values, float2* other, const CosinePlan& plan,
                                     const float2* roots) {
  uint32_t product = 1;
  for (uint32_t stage = 0; stage < plan.stages; ++stage) {
    switch (plan.radices[stage]) {
      case 2:
        run_stage<2>(values, other, plan.length, product, roots);
        break;
      case 3:
        run_stage<3>(values, other, plan.length, product, roots);
        break;
      case 4:
        run_stage<4>(values, other, plan.length, product, roots);
        break;
      case 5:
        run_stage<5>(values, other, plan.length, product, roots);
        break;
      case 7:
        run_stage<7>(values, other, plan.length, product, roots);
        break;
      default:
        run_stage<8>(values, other, plan.length, product, roots);
    }
    product *= plan.radices[stage];
    float2* const result = other;
    other = values;
    values = result;
  }
  return values;
}

// The rows of the matrix of coefficients, from fragments.
struct DealtRows {
  DealtValues dealt;
  const uint64_t* before;  // essential coefficients before each row, and in all
  uint64_t columns;

  __device__ float value(uint64_t row, uint32_t column) const {
    const uint64_t begin = before[row];
    const uint64_t essential = before[row + 1] - begin;
    if (column < essential) return common_value(dealt, begin + column);
    return item_value(dealt, row * columns - begin + (column - essential));
  }
};

struct PlainRows {
  const float* values;
  uint64_t columns;

  __device__ float value(uint64_t row, uint32_t column) const {
    return values[row * columns + column];
  }
};

// Inverse cosine transform, orthonormal, of two rows a block.
template <typename Rows>
__global__ void __launch_bounds__(kThreads)
    inverse_cosine_rows(Rows rows, uint64_t count, CosinePlan plan, const float2* roots,
                        float* out) {
  extern __shared__ __align__(16) uint8_t memory[];
  const uint32_t length = plan.length;
  auto* const first = reinterpret_cast<float2*>(memory);
  float2* const second = first + (length + 15) / 16 * 16;
  const uint64_t row = 2 * uint64_t{blockIdx.x};
  const bool both = row + 1 < count;

  const float scale = 1 / sqrtf(2 * static_cast<float>(length));
  const float scale_of_0 = 1 / sqrtf(static_cast<float>(length));
  for (uint32_t k = threadIdx.x; k < length; k += kThreads) {
    const float factor = k == 0 ? scale_of_0 : scale;
    first[place(k)] =
        make_float2(rows.value(row, k) * factor, both ? rows.value(row + 1, k) * factor : 0);
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < length; k += kThreads) {
    const float2 value = first[place(k)];
    if (k == 0) {
      second[place(0)] = value;
    } else {
      second[place(k)] = (value - times_i(first[place(length - k)])) * __ldg(roots + length + k);
    }
  }
  __syncthreads();
  const float2* const result = fourier_transform(second, first, plan, roots);
  for (uint32_t i = threadIdx.x; i < length; i += kThreads) {
    const float2 value = result[place(i % 2 == 0 ? i / 2 : length - 1 - i / 2)];
    out[row * length + i] = value.x;
    if (both) out[(row + 1) * length + i] = value.y;
  }
}

constexpr unsigned kTile = 32;
constexpr unsigned kTileRows = kSmallBlock / kTile;

// out(column, row) = in(row, column); elements where `scale` is given, else floats.
template <bool kElements>
__global__ void __launch_bounds__(kSmallBlock)
    transpose(const float* in, uint64_t rows, uint64_t columns, ElementScale scale, void* out) {
  __shared__ float tile[kTile][kTile + 1];
  const uint64_t tiles = (columns + kTile - 1) / kTile;
  const uint64_t row = blockIdx.x / tiles * kTile;
  const uint64_t column = blockIdx.x % tiles * kTile;
  const unsigned x = threadIdx.x % kTile;
  for (unsigned y = threadIdx.x / kTile; y < kTile; y += kTileRows) {
    if (row + y < rows && column + x < columns) tile[y][x] = in[(row + y) * columns + column + x];
  }
  __syncthreads();
  for (unsigned y = threadIdx.x / kTile; y < kTile; y += kTileRows) {
    if (column + y >= columns || row + x >= rows) continue;
    const uint64_t at = (column + y) * rows + row + x;
    if constexpr (kElements) {
      store_element(out, at, tile[x][y], scale);
    } else {
      static_cast<float*>(out)[at] = tile[x][y];
    }
  }
}

template <typename Rows>
cudaError_t launch_cosine(cudaStream_t stream, Rows rows, uint64_t count, const CosinePlan& plan,
                          float2* roots, float* out) {
  const size_t shared = 2 * sizeof(float2) * ((plan.length + 15) / 16 * 16);
  const cudaError_t allowed = allow_shared(inverse_cosine_rows<Rows>, shared);
  if (allowed != cudaSuccess) return allowed;
  fill_roots<<<blocks_for(plan.length), kSmallBlock, 0, stream>>>(plan.length, roots);
  inverse_cosine_rows<<<static_cast<unsigned>((count + 1) / 2), kThreads, shared, stream>>>(
      rows, count, plan, roots, out);
  return cudaGetLastError();
}

template <bool kElements>
void launch_transpose(cudaStream_t stream, const float* in, uint64_t rows, uint64_t columns,
                      const ElementScale& scale, void* out) {
  const uint64_t tiles = ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
  transpose<kElements>
      <<<static_cast<unsigned>(tiles), kSmallBlock, 0, stream>>>(in, rows, columns, scale, out);
}

}  // namespace
}  // namespace hoist::tensors

extern "C" {

// A matrix of rows x columns. `before` has rows + 1 entries; `roots` room for twice the longer side
// as float2; `scratch` for two matrices of floats.
int hoist_cuda_tensors_inverse_cosine(
    int device, void* stream, const hoist::tensors::DealtValues* dealt, const uint64_t* before,
    const hoist::tensors::CosinePlan* of_rows, const hoist::tensors::CosinePlan* of_columns,
    void* roots, void* scratch, const hoist::tensors::ElementScale* scale, void* out) {
  using namespace hoist::tensors;
  return on_device(device, [&] {
    auto* const on = static_cast<cudaStream_t>(stream);
    const uint64_t columns = of_rows->length;
    const uint64_t rows = of_columns->length;
    auto* const first = static_cast<float*>(scratch);
    float* const second = first + rows * columns;
    auto* const table = static_cast<float2*>(roots);
    cudaError_t error =
        launch_cosine(on, DealtRows{*dealt, before, columns}, rows, *of_rows, table, first);
    if (error != cudaSuccess) return error;
    launch_transpose<false>(on, first, rows, columns, *scale, second);
    error = launch_cosine(on, PlainRows{second, rows}, columns, *of_columns, table, first);
    if (error != cudaSuccess) return error;
    launch_transpose<true>(on, first, columns, rows, *scale, out);
    return cudaGetLastError();
  });
}

}  // extern "C"
