// Unpacks a packed matrix, or some of its rows.
#include <cuda_runtime.h>

#include "device/on_device.h"
#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kWarps = kThreads / kLanes;
constexpr uint32_t kVector = 8;  // weights of 16 bytes
constexpr uint16_t kNaN = 0x7fff;

// Eight neighbours of a row of `columns`, at a multiple of eight.
template <bool kAligned>
__device__ void store_eight(uint16_t* row, uint32_t column, uint32_t columns, const uint4& eight) {
  if (column >= columns) return;
  if constexpr (kAligned) {
    __stcs(reinterpret_cast<uint4*>(row + column), eight);
  } else {
    const uint32_t words[] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (uint32_t i = 0; i < kVector; ++i) {
      if (column + i < columns) {
        row[column + i] = static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2));
      }
    }
  }
}

// A warp a tile.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads) unpack_tiles(MatrixJob matrix, uint16_t* out) {
  const uint32_t row_tiles = (matrix.columns + kTileColumns - 1) / kTileColumns;
  const uint32_t lane = threadIdx.x % kLanes;
  const uint32_t number = blockIdx.x * kWarps + threadIdx.x / kLanes;
  const uint32_t block = number / row_tiles;
  const uint32_t tile = number % row_tiles;
  if (block * kTileRows >= matrix.rows) return;
  const uint32_t factor = matrix.factors[block];
  const LaneTile packed = load_lane_tile(lane_tile(matrix, block, tile, lane));
  const Fragment steps[] = {decode_step(packed.low.x, packed.low.y, packed.codes.x, factor),
                            decode_step(packed.low.z, packed.low.w, packed.codes.y, factor),
                            decode_step(packed.high.x, packed.high.y, packed.codes.z, factor),
                            decode_step(packed.high.z, packed.high.w, packed.codes.w, factor)};
  const uint32_t column = tile * kTileColumns + lane % 4 * kVector;
#pragma unroll
  for (uint32_t lower = 0; lower < 2; ++lower) {
    const uint32_t row = block * kTileRows + lane / 4 + lower * (kTileRows / 2);
    if (row >= matrix.rows) return;
    uint16_t* const to = out + uint64_t{row} * matrix.columns;
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      const Fragment& first = steps[2 * half];
      const Fragment& second = steps[2 * half + 1];
      store_eight<kAligned>(to, column + half * (kTileColumns / 2), matrix.columns,
                            make_uint4(first.pairs[lower], first.pairs[2 + lower],
                                       second.pairs[lower], second.pairs[2 + lower]));
    }
  }
}

// A warp a row.
__global__ void __launch_bounds__(kThreads) put_escapes(MatrixJob matrix, uint16_t* out) {
  const uint32_t row = blockIdx.x * kWarps + threadIdx.x / kLanes;
  if (row >= matrix.rows) return;
  const uint32_t end = matrix.row_escapes[row + 1];
  for (uint32_t i = matrix.row_escapes[row] + threadIdx.x % kLanes; i < end; i += kLanes) {
    const Escape escape = matrix.escapes[i];
    out[uint64_t{row} * matrix.columns + escape.column] = static_cast<uint16_t>(escape.bits);
  }
}

// Piece `piece` of a row's pieces of eight columns, of which a tile has eight.
__device__ uint4 decode_eight(const MatrixJob& matrix, uint32_t row, uint32_t piece) {
  const uint32_t half = piece % 8 / 4;
  const uint32_t lane = row % (kTileRows / 2) * 4 + piece % 4;
  const uint4* const tile = lane_tile(matrix, row / kTileRows, piece / 8, lane);
  const uint4 kept = tile[half * kLanes];
  const uint2 codes = reinterpret_cast<const uint2*>(tile + 2 * kLanes)[half];
  const uint32_t factor = matrix.factors[row / kTileRows];
  const Fragment first = decode_step(kept.x, kept.y, codes.x, factor);
  const Fragment second = decode_step(kept.z, kept.w, codes.y, factor);
  if (row % kTileRows < kTileRows / 2) {
    return make_uint4(first.pairs[0], first.pairs[2], second.pairs[0], second.pairs[2]);
  }
  return make_uint4(first.pairs[1], first.pairs[3], second.pairs[1], second.pairs[3]);
}

__device__ int64_t number_at(const void* numbers, bool are_wide, uint64_t i) {
  return are_wide ? static_cast<const int64_t*>(numbers)[i]
                  : static_cast<const int32_t*>(numbers)[i];
}

// A block of threads a row, and the next ones behind.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads)
    unpack_rows(MatrixJob matrix, const void* numbers, bool are_wide, uint64_t count,
                uint16_t* out) {
  const uint32_t pieces = (matrix.columns + kVector - 1) / kVector;
  for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const int64_t number = number_at(numbers, are_wide, i);
    uint16_t* const to = out + i * matrix.columns;
    if (number < 0 || number >= matrix.rows) {
      for (uint32_t k = threadIdx.x; k < matrix.columns; k += kThreads) to[k] = kNaN;
      continue;
    }
    const auto row = static_cast<uint32_t>(number);
    for (uint32_t piece = threadIdx.x; piece < pieces; piece += kThreads) {
      store_eight<kAligned>(to, piece * kVector, matrix.columns, decode_eight(matrix, row, piece));
    }
    __syncthreads();  // escapes go over what was decoded
    const uint32_t end = matrix.row_escapes[row + 1];
    for (uint32_t k = matrix.row_escapes[row] + threadIdx.x; k < end; k += kThreads) {
      to[matrix.escapes[k].column] = static_cast<uint16_t>(matrix.escapes[k].bits);
    }
  }
}

bool are_vectors(const MatrixJob& matrix, const uint16_t* out) {
  return matrix.columns % kVector == 0 && reinterpret_cast<uintptr_t>(out) % 16 == 0;
}

uint32_t blocks_for(uint64_t count, uint32_t per_block) {
  return static_cast<uint32_t>((count + per_block - 1) / per_block);
}

}  // namespace
}  // namespace hoist::tensors::packed

extern "C" {

namespace packed = hoist::tensors::packed;
using hoist::device::on_device;

int hoist_cuda_packed_unpack(int device, void* stream, const packed::MatrixJob* matrix,
                             uint16_t* out) {
  return on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    const uint64_t tiles = uint64_t{packed::blocks_for(matrix->rows, packed::kTileRows)} *
                           packed::blocks_for(matrix->columns, packed::kTileColumns);
    const uint32_t blocks = packed::blocks_for(tiles, packed::kWarps);
    if (packed::are_vectors(*matrix, out)) {
      packed::unpack_tiles<true><<<blocks, packed::kThreads, 0, on>>>(*matrix, out);
    } else {
      packed::unpack_tiles<false><<<blocks, packed::kThreads, 0, on>>>(*matrix, out);
    }
    packed::
        put_escapes<<<packed::blocks_for(matrix->rows, packed::kWarps), packed::kThreads, 0, on>>>(
            *matrix, out);
    return cudaGetLastError();
  });
}

int hoist_cuda_packed_rows(int device, void* stream, const packed::MatrixJob* matrix,
                           const void* numbers, int are_wide, uint64_t count, uint16_t* out) {
  return on_device(device, [=] {
    const auto on = static_cast<cudaStream_t>(stream);
    constexpr uint64_t kMostBlocks = 1 << 16;
    const auto blocks = static_cast<uint32_t>(count < kMostBlocks ? count : kMostBlocks);
    if (packed::are_vectors(*matrix, out)) {
      packed::unpack_rows<true>
          <<<blocks, packed::kThreads, 0, on>>>(*matrix, numbers, are_wide != 0, count, out);
    } else {
      packed::unpack_rows<false>
          <<<blocks, packed::kThreads, 0, on>>>(*matrix, numbers, are_wide != 0, count, out);
    }
    return cudaGetLastError();
  });
}

}  // extern "C"
