// y = x Wᵀ with a packed W, for up to 32 rows of x. A block of threads makes 16 or 32 rows of W,
// whole: its warps share out the tiles, decode them in registers, and add up in shared memory in an
// order that is always the same.
//
// The kernel may start while the one before it on its stream still runs (programmatic dependent
// launch): it asks for its first tiles at once, and waits before it reads x or writes y. Packed
// weights are never written by work that lets others start early.
#include <cuda_runtime.h>

#include "device/on_device.h"
#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/product_end.cuh"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kGroup = 8;   // rows of x that a product of fragments takes
constexpr uint32_t kVector = 8;  // values of 16 bytes

// sums += weights (16 x 16) times x (16 x 8).
__device__ __forceinline__ void multiply_step(float (&sums)[4], const Fragment& weights,
                                              uint32_t x0, uint32_t x1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(weights.pairs[0]), "r"(weights.pairs[1]), "r"(weights.pairs[2]), "r"(weights.pairs[3]),
        "r"(x0), "r"(x1));
}

// Eight values of a row of x at a multiple of eight; zeros outside. kAligned: rows begin at
// multiples of 16 bytes and have a multiple of eight columns.
template <bool kAligned>
__device__ __forceinline__ uint4 load_x(const ProductJob& product, uint32_t i, uint32_t column,
                                        uint32_t columns) {
  uint4 eight = make_uint4(0, 0, 0, 0);
  if (i >= product.count || column >= columns) return eight;
  const uint16_t* const from = product.x + i * product.x_stride + column;
  if constexpr (kAligned) return *reinterpret_cast<const uint4*>(from);
  uint32_t* const words[] = {&eight.x, &eight.y, &eight.z, &eight.w};
#pragma unroll
  for (uint32_t k = 0; k < kVector; ++k) {
    if (column + k < columns) *words[k / 2] |= uint32_t{from[k]} << 16 * (k % 2);
  }
  return eight;
}

// sums += a tile of weights times x: low, its first 32 columns, and high.
template <uint32_t kGroups, uint32_t kChains>
__device__ __forceinline__ void multiply_tile(float (&sums)[kGroups][kChains][4],
                                              const LaneTile& tile, uint32_t factor,
                                              const uint4 (&low)[kGroups],
                                              const uint4 (&high)[kGroups]) {
  Fragment weights = decode_step(tile.low.x, tile.low.y, tile.codes.x, factor);
#pragma unroll
  for (uint32_t k = 0; k < kGroups; ++k) multiply_step(sums[k][0], weights, low[k].x, low[k].y);
  weights = decode_step(tile.low.z, tile.low.w, tile.codes.y, factor);
#pragma unroll
  for (uint32_t k = 0; k < kGroups; ++k) {
    multiply_step(sums[k][kChains - 1], weights, low[k].z, low[k].w);
  }
  weights = decode_step(tile.high.x, tile.high.y, tile.codes.z, factor);
#pragma unroll
  for (uint32_t k = 0; k < kGroups; ++k) multiply_step(sums[k][0], weights, high[k].x, high[k].y);
  weights = decode_step(tile.high.z, tile.high.w, tile.codes.w, factor);
#pragma unroll
  for (uint32_t k = 0; k < kGroups; ++k) {
    multiply_step(sums[k][kChains - 1], weights, high[k].z, high[k].w);
  }
}

// kGroups: of eight rows of x. kAhead: tiles of each row block that a warp has asked for before it
// needs them. kRowBlocks: that a block of threads makes: so many use each x that is loaded.
template <uint32_t kRowBlocks, uint32_t kGroups, uint32_t kWarps, uint32_t kAhead, uint32_t kBlocks,
          bool kAligned>
__global__ void __launch_bounds__(kWarps* kLanes, kBlocks)
    multiply(MatrixJob matrix, ProductJob product) {
  // One group of rows leaves registers for two chains of sums.
  constexpr uint32_t kChains = kGroups == 1 ? 2 : 1;
  constexpr uint32_t kColumns = kGroup * kGroups;
  constexpr uint32_t kRows = kTileRows * kRowBlocks;
  __shared__ float parts[kWarps][kRows][kColumns + 1];
  const uint32_t lane = threadIdx.x % kLanes;
  const uint32_t warp = threadIdx.x / kLanes;
  const uint32_t g = lane / 4;
  const uint32_t q = lane % 4;
  const uint32_t row_tiles = (matrix.columns + kTileColumns - 1) / kTileColumns;
  const uint32_t last_block = (matrix.rows - 1) / kTileRows;
  const uint4* tiles[kRowBlocks];  // behind the last row block: the last again, for nothing
#pragma unroll
  for (uint32_t r = 0; r < kRowBlocks; ++r) {
    tiles[r] = lane_tile(matrix, min(blockIdx.x * kRowBlocks + r, last_block), 0, lane);
  }
  LaneTile ahead[kAhead][kRowBlocks];
#pragma unroll
  for (uint32_t s = 0; s < kAhead; ++s) {
    const uint32_t tile = warp + s * kWarps;
    if (tile >= row_tiles) continue;
#pragma unroll
    for (uint32_t r = 0; r < kRowBlocks; ++r) {
      ahead[s][r] = load_lane_tile(tiles[r] + uint64_t{tile} * kTilePieces);
    }
  }
  uint32_t factors[kRowBlocks];
#pragma unroll
  for (uint32_t r = 0; r < kRowBlocks; ++r) {
    factors[r] = matrix.factors[min(blockIdx.x * kRowBlocks + r, last_block)];
  }
  const uint32_t row = blockIdx.x * kRows + threadIdx.x % kRows;  // whose sums it ends
  const bool ends = threadIdx.x < kRows * product.count && row < matrix.rows;
  RowEscapes escapes;
  if (ends) escapes.find(matrix, row);
  let_others_start();
  wait_for_those_before();
  float sums[kRowBlocks][kGroups][kChains][4] = {};
  bool is_first = true;
  for (uint32_t at = warp; at < row_tiles;) {
#pragma unroll
    for (uint32_t s = 0; s < kAhead; ++s, at += kWarps) {
      if (at >= row_tiles) continue;
      uint4 low[kGroups];
      uint4 high[kGroups];
      const uint32_t column = at * kTileColumns + q * kVector;
#pragma unroll
      for (uint32_t k = 0; k < kGroups; ++k) {
        low[k] = load_x<kAligned>(product, g + kGroup * k, column, matrix.columns);
        high[k] =
            load_x<kAligned>(product, g + kGroup * k, column + kTileColumns / 2, matrix.columns);
      }
      const uint32_t next = at + kAhead * kWarps;
#pragma unroll
      for (uint32_t r = 0; r < kRowBlocks; ++r) {
        const LaneTile tile = ahead[s][r];
        if (next < row_tiles) {
          ahead[s][r] = load_lane_tile(tiles[r] + uint64_t{next} * kTilePieces);
        }
        multiply_tile(sums[r], tile, factors[r], low, high);
      }
    }
    if (is_first) escapes.load(matrix);
    is_first = false;
  }
  if (is_first) escapes.load(matrix);  // a warp without tiles
#pragma unroll
  for (uint32_t r = 0; r < kRowBlocks; ++r) {
#pragma unroll
    for (uint32_t k = 0; k < kGroups; ++k) {
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        float sum = sums[r][k][0][i];
        if constexpr (kChains == 2) sum += sums[r][k][1][i];
        parts[warp][r * kTileRows + g + i / 2 * (kTileRows / 2)][kGroup * k + 2 * q + i % 2] = sum;
      }
    }
  }
  __syncthreads();
  if (!ends) return;
  for (uint32_t i = threadIdx.x / kRows; i < product.count; i += kWarps * kLanes / kRows) {
    float sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < kWarps; ++k) sum += parts[k][threadIdx.x % kRows][i];
    write_result(matrix, product, escapes, row, i, sum);
  }
}

struct Gpu {
  int processors = 0;
  int generation = 0;

  cudaError_t find(int device) {
    const cudaError_t error =
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device);
  }
};

template <uint32_t kRowBlocks, uint32_t kGroups, uint32_t kWarps, uint32_t kAhead, uint32_t kBlocks>
cudaError_t launch(const Gpu& gpu, cudaStream_t stream, const MatrixJob& matrix,
                   const ProductJob& product) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3((matrix.rows + kTileRows * kRowBlocks - 1) / (kTileRows * kRowBlocks));
  launch.blockDim = dim3(kWarps * kLanes);
  launch.stream = stream;
  launch.attrs = &early;
  launch.numAttrs = gpu.generation >= 9 ? 1 : 0;
  const bool is_aligned = reinterpret_cast<uintptr_t>(product.x) % 16 == 0 &&
                          (product.x_stride % kVector == 0 || product.count == 1) &&
                          matrix.columns % kVector == 0;
  return is_aligned
             ? cudaLaunchKernelEx(&launch,
                                  multiply<kRowBlocks, kGroups, kWarps, kAhead, kBlocks, true>,
                                  matrix, product)
             : cudaLaunchKernelEx(&launch,
                                  multiply<kRowBlocks, kGroups, kWarps, kAhead, kBlocks, false>,
                                  matrix, product);
}

// Shapes of blocks as measured: many warps where there are few blocks of rows. Elsewhere, from nine
// rows of x on, two row blocks use each x: to load it takes longer than to load weights.
cudaError_t launch_best(const Gpu& gpu, cudaStream_t stream, const MatrixJob& matrix,
                        const ProductJob& product) {
  const uint32_t blocks = (matrix.rows + kTileRows - 1) / kTileRows;
  const auto processors = static_cast<uint32_t>(gpu.processors);
  const uint32_t groups = (product.count + kGroup - 1) / kGroup;
  if (blocks <= 2 * processors) {
    if (groups == 1) return launch<1, 1, 16, 1, 2>(gpu, stream, matrix, product);
    if (groups == 2) return launch<1, 2, 16, 1, 2>(gpu, stream, matrix, product);
    if (groups == 3) return launch<1, 3, 8, 1, 2>(gpu, stream, matrix, product);
    return launch<1, 4, 8, 2, 2>(gpu, stream, matrix, product);
  }
  if (groups == 1) return launch<1, 1, 8, 1, 4>(gpu, stream, matrix, product);
  if (groups == 2) return launch<2, 2, 8, 1, 2>(gpu, stream, matrix, product);
  if (blocks <= 6 * processors) {
    return groups == 3 ? launch<2, 3, 8, 1, 2>(gpu, stream, matrix, product)
                       : launch<2, 4, 8, 1, 2>(gpu, stream, matrix, product);
  }
  return groups == 3 ? launch<2, 3, 4, 1, 4>(gpu, stream, matrix, product)
                     : launch<2, 4, 4, 1, 4>(gpu, stream, matrix, product);
}

}  // namespace
}  // namespace hoist::tensors::packed

extern "C" {

namespace packed = hoist::tensors::packed;

// product->count: 1…32.
int hoist_cuda_packed_multiply(int device, void* stream, const packed::MatrixJob* matrix,
                               const packed::ProductJob* product) {
  return hoist::device::on_device(device, [=] {
    packed::Gpu gpu;
    const cudaError_t error = gpu.find(device);
    if (error != cudaSuccess) return error;
    return packed::launch_best(gpu, static_cast<cudaStream_t>(stream), *matrix, *product);
  });
}

}  // extern "C"
