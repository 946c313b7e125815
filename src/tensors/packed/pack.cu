// Packs a plain matrix, and checks the tables of a packed one.
#include <cuda_runtime.h>

#include "device/on_device.h"
#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kWarps = kThreads / kLanes;
constexpr uint32_t kExponents = 256;
constexpr uint32_t kScanThreads = 1024;
constexpr uint32_t kVector = 8;  // weights of 16 bytes

__device__ uint32_t lane_of() { return threadIdx.x % kLanes; }
__device__ uint32_t warp_of() { return threadIdx.x / kLanes; }

__device__ bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % 16 == 0;
}

// Calls visit(weight) for each of a row's, by the lanes of a warp.
template <typename Visit>
__device__ void visit_row(const uint16_t* row, uint32_t columns, const Visit& visit) {
  const uint32_t vectors = is_aligned(row) ? columns / kVector : 0;
  for (uint32_t i = lane_of(); i < vectors; i += kLanes) {
    const uint4 four = reinterpret_cast<const uint4*>(row)[i];
    for (const uint32_t word : {four.x, four.y, four.z, four.w}) {
      visit(static_cast<uint16_t>(word));
      visit(static_cast<uint16_t>(word >> 16));
    }
  }
  for (uint32_t i = vectors * kVector + lane_of(); i < columns; i += kLanes) visit(row[i]);
}

// The base with most weights in its window, the largest such (pack.h: best_base()).
__device__ uint32_t choose_base(const uint32_t* counts) {
  uint64_t inside = 0;
  for (uint32_t e = 1; e <= kCodes; ++e) inside += counts[e];
  uint64_t most = inside;
  uint32_t best = 0;
  for (uint32_t base = 1; base <= kLargestBase; ++base) {
    inside += counts[base + kCodes];
    inside -= counts[base];
    if (inside >= most) {
      most = inside;
      best = base;
    }
  }
  return best;
}

// A block of threads a row block: its factor, and how many escapes each row has.
__global__ void __launch_bounds__(kThreads)
    plan_blocks(PlainJob plain, uint32_t* factors, uint32_t* counts) {
  __shared__ uint32_t histograms[kWarps][kExponents];
  __shared__ uint32_t base;
  const uint32_t begin = blockIdx.x * kTileRows;
  const uint32_t rows = min(kTileRows, plain.rows - begin);
  for (uint32_t i = threadIdx.x; i < kWarps * kExponents; i += kThreads) histograms[0][i] = 0;
  __syncthreads();
  for (uint32_t r = warp_of(); r < rows; r += kWarps) {
    visit_row(plain.weights + (begin + r) * plain.row_stride, plain.columns, [&](uint16_t weight) {
      if ((weight & kMagnitude) != 0) atomicAdd(&histograms[warp_of()][exponent_of(weight)], 1U);
    });
  }
  __syncthreads();
  uint32_t sum = 0;
  for (uint32_t warp = 0; warp < kWarps; ++warp) sum += histograms[warp][threadIdx.x];
  __syncthreads();
  histograms[0][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    base = choose_base(histograms[0]);
    factors[blockIdx.x] = factor_of(base);
  }
  __syncthreads();
  for (uint32_t r = warp_of(); r < rows; r += kWarps) {
    uint32_t count = 0;
    visit_row(plain.weights + (begin + r) * plain.row_stride, plain.columns,
              [&](uint16_t weight) { count += is_escape(weight, base); });
    count = __reduce_add_sync(~0U, count);
    if (lane_of() == 0) counts[begin + r] = count;
  }
}

__device__ uint32_t inclusive_scan(uint32_t value) {
  for (uint32_t distance = 1; distance < kLanes; distance *= 2) {
    const uint32_t before = __shfl_up_sync(~0U, value, distance);
    if (lane_of() >= distance) value += before;
  }
  return value;
}

// One block of threads: counts become the places where each row's escapes begin.
__global__ void __launch_bounds__(kScanThreads)
    sum_counts(uint32_t rows, uint32_t* counts, PlanTotals* totals) {
  __shared__ uint32_t warps[kScanThreads / kLanes];
  __shared__ uint32_t most;
  if (threadIdx.x == 0) most = 0;
  uint64_t sum = 0;
  for (uint32_t begin = 0; begin < rows; begin += kScanThreads) {
    __syncthreads();
    const uint32_t row = begin + threadIdx.x;
    const uint32_t count = row < rows ? counts[row] : 0;
    const uint32_t in_warp = inclusive_scan(count);
    if (lane_of() == kLanes - 1) warps[warp_of()] = in_warp;
    atomicMax(&most, count);
    __syncthreads();
    uint64_t before = sum;
    for (uint32_t warp = 0; warp < kScanThreads / kLanes; ++warp) {
      if (warp < warp_of()) before += warps[warp];
      sum += warps[warp];
    }
    if (row < rows) counts[row] = static_cast<uint32_t>(before + in_warp - count);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  counts[rows] = static_cast<uint32_t>(sum);
  totals->escapes = sum;
  totals->most_in_row = most;
}

// Eight neighbours of a row, zeros outside of the matrix.
struct Eight {
  uint16_t weights[kVector];
};

__device__ Eight load_eight(const PlainJob& plain, uint32_t row, uint32_t column) {
  Eight eight = {};
  if (row >= plain.rows || column >= plain.columns) return eight;
  const uint16_t* const from = plain.weights + row * plain.row_stride + column;
  if (is_aligned(from) && column + kVector <= plain.columns) {
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    const uint32_t words[] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (uint32_t i = 0; i < kVector; ++i) {
      eight.weights[i] = static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2));
    }
  } else {
    for (uint32_t i = 0; i < kVector && column + i < plain.columns; ++i) eight.weights[i] = from[i];
  }
  return eight;
}

// A warp a tile: each lane makes its words of eight columns, twice.
__global__ void __launch_bounds__(kThreads) pack_tiles(PlainJob plain, MatrixJob matrix) {
  const uint32_t row_tiles = (plain.columns + kTileColumns - 1) / kTileColumns;
  const uint32_t number = blockIdx.x * kWarps + warp_of();
  const uint32_t block = number / row_tiles;
  const uint32_t tile = number % row_tiles;
  if (block * kTileRows >= plain.rows) return;
  const uint32_t base = base_of(matrix.factors[block]);
  const uint32_t row = block * kTileRows + lane_of() / 4;
  const uint32_t column = tile * kTileColumns + lane_of() % 4 * kVector;
  auto* const out = const_cast<uint4*>(lane_tile(matrix, block, tile, lane_of()));
  uint32_t codes[4] = {};
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t at = column + half * (kTileColumns / 2);
    const Eight upper = load_eight(plain, row, at);
    const Eight lower = load_eight(plain, row + kTileRows / 2, at);
    uint32_t kept[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < kVector; ++i) {
      const uint32_t together =
          kept_of(upper.weights[i], base) | swap_bytes(kept_of(lower.weights[i], base));
      kept[i / 2] |= together << 16 * (i % 2);
    }
    out[half * kLanes] = make_uint4(kept[0], kept[1], kept[2], kept[3]);
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t k = i / 2 * 4 + i % 2;
      const uint32_t four =
          join_codes(code_of(upper.weights[k], base), code_of(lower.weights[k], base),
                     code_of(upper.weights[k + 2], base), code_of(lower.weights[k + 2], base));
      codes[2 * half + i / 2] |= four << 16 * (i % 2);
    }
  }
  out[2 * kLanes] = make_uint4(codes[0], codes[1], codes[2], codes[3]);
}

// A warp a row: its escapes in the order of columns.
__global__ void __launch_bounds__(kThreads) gather_escapes(PlainJob plain, MatrixJob matrix) {
  const uint32_t row = blockIdx.x * kWarps + warp_of();
  if (row >= plain.rows) return;
  uint32_t at = matrix.row_escapes[row];
  const uint32_t end = matrix.row_escapes[row + 1];
  const uint32_t base = base_of(matrix.factors[row / kTileRows]);
  const uint16_t* const weights = plain.weights + row * plain.row_stride;
  for (uint32_t begin = 0; at < end && begin < plain.columns; begin += kLanes) {
    const uint32_t column = begin + lane_of();
    const uint16_t weight = column < plain.columns ? weights[column] : 0;
    const bool escapes = is_escape(weight, base);
    const uint32_t all = __ballot_sync(~0U, escapes);
    const uint32_t place = at + __popc(all & ((1U << lane_of()) - 1));
    if (escapes && place < end) matrix.escapes[place] = {column, weight};
    at += __popc(all);
  }
}

// A thread a row: matrix.h's check_contents().
__device__ bool is_row_sound(const MatrixJob& matrix, uint32_t row) {
  const uint32_t begin = matrix.row_escapes[row];
  const uint32_t end = matrix.row_escapes[row + 1];
  if (begin > end || end > matrix.escape_count) return false;
  if (row == 0 && begin != 0) return false;
  if (row + 1 == matrix.rows && end != matrix.escape_count) return false;
  uint64_t next = 0;
  for (uint32_t i = begin; i < end; ++i) {
    const Escape escape = matrix.escapes[i];
    if (escape.column < next || escape.column >= matrix.columns || escape.bits > 0xffff) {
      return false;
    }
    next = uint64_t{escape.column} + 1;
  }
  return true;
}

__global__ void __launch_bounds__(kThreads) check_rows(MatrixJob matrix, uint32_t* faults) {
  const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= matrix.rows) return;
  const bool starts_block = row % kTileRows == 0;
  if (starts_block && !is_factor(matrix.factors[row / kTileRows])) atomicAdd(faults, 1U);
  if (!is_row_sound(matrix, row)) atomicAdd(faults, 1U);
}

__global__ void check_no_rows(MatrixJob matrix, uint32_t* faults) {
  *faults = matrix.row_escapes[0] != 0 || matrix.escape_count != 0;
}

uint32_t blocks_for(uint32_t count, uint32_t per_block) {
  return (count + per_block - 1) / per_block;
}

}  // namespace
}  // namespace hoist::tensors::packed

extern "C" {

namespace packed = hoist::tensors::packed;
using hoist::device::on_device;

int hoist_cuda_packed_plan(int device, void* stream, const packed::PlainJob* plain,
                           uint32_t* factors, uint32_t* row_escapes, packed::PlanTotals* totals) {
  return on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    const uint32_t blocks = packed::blocks_for(plain->rows, packed::kTileRows);
    if (blocks != 0) {
      packed::plan_blocks<<<blocks, packed::kThreads, 0, on>>>(*plain, factors, row_escapes);
    }
    packed::sum_counts<<<1, packed::kScanThreads, 0, on>>>(plain->rows, row_escapes, totals);
    return cudaGetLastError();
  });
}

// The factors and row_escapes are there.
int hoist_cuda_packed_pack(int device, void* stream, const packed::PlainJob* plain,
                           const packed::MatrixJob* matrix) {
  return on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    const uint32_t tiles = packed::blocks_for(plain->rows, packed::kTileRows) *
                           packed::blocks_for(plain->columns, packed::kTileColumns);
    packed::pack_tiles<<<packed::blocks_for(tiles, packed::kWarps), packed::kThreads, 0, on>>>(
        *plain, *matrix);
    packed::gather_escapes<<<packed::blocks_for(plain->rows, packed::kWarps), packed::kThreads, 0,
                             on>>>(*plain, *matrix);
    return cudaGetLastError();
  });
}

// Adds what is wrong to `faults`.
int hoist_cuda_packed_check(int device, void* stream, const packed::MatrixJob* matrix,
                            uint32_t* faults) {
  return on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    if (matrix->rows == 0) {
      packed::check_no_rows<<<1, 1, 0, on>>>(*matrix, faults);
    } else {
      const uint32_t blocks = packed::blocks_for(matrix->rows, packed::kThreads);
      packed::check_rows<<<blocks, packed::kThreads, 0, on>>>(*matrix, faults);
    }
    return cudaGetLastError();
  });
}

}  // extern "C"
