// How multiply_wide.cu shares out work, and the thread that copies packed weights and x ahead.
#pragma once

#include <cstdint>

#include "tensors/packed/barrier.cuh"
#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/product_end.cuh"

namespace hoist::tensors::packed {

constexpr uint32_t kPieces = 8;  // of a tile's columns: words 8 q + p of each lane q

// What a block of threads works on. kColumns: rows of x, rounded up. kGroups: of four warps that
// multiply; a warp has a row block. kStages: tiles of all these that are copied ahead.
template <uint32_t kColumnsOfX, uint32_t kGroups, uint32_t kStagesAhead>
struct Form {
  static constexpr uint32_t kColumns = kColumnsOfX;
  static constexpr uint32_t kStages = kStagesAhead;
  static constexpr uint32_t kBands = kGroups * 4;
  static constexpr uint32_t kWorkers = kBands * kLanes;
  static constexpr uint32_t kThreads = kWorkers + 4 * kLanes;
  static constexpr uint32_t kImageTile = kColumns * kTileColumns * 2;  // bytes of x for one tile
  static constexpr uint32_t kStageBytes = kImageTile + kBands * kTileBytes;
  // Registers of a thread that multiplies, and of one that copies: 65536 in all.
  static constexpr uint32_t kWorkerRegisters = kGroups == 2 ? 232 : kGroups == 3 ? 160 : 112;
  static constexpr uint32_t kCopierRegisters = kGroups == 2 ? 40 : 32;
};

// What all blocks of threads share out: band by band, tile by tile.
struct Share {
  uint32_t row_tiles;
  uint32_t units;
  uint32_t begin;
  uint32_t end;

  __device__ Share(const MatrixJob& matrix, uint32_t bands)
      : row_tiles((matrix.columns + kTileColumns - 1) / kTileColumns) {
    const uint32_t blocks = (matrix.rows + kTileRows - 1) / kTileRows;
    units = (blocks + bands - 1) / bands * row_tiles;
    begin = first_of(blockIdx.x);
    end = first_of(blockIdx.x + 1);
  }
  __device__ uint32_t first_of(uint32_t block) const {
    return static_cast<uint32_t>(uint64_t{units} * block / gridDim.x);
  }
  // The block that has a unit.
  __device__ uint32_t owner_of(uint32_t unit) const {
    return static_cast<uint32_t>(((uint64_t{unit} + 1) * gridDim.x - 1) / units);
  }
  // Each block leaves at most two parts: of the band that it begins in, and of the one that it ends
  // in.
  __device__ uint32_t part_of(uint32_t block, uint32_t band) const {
    return 2 * block + (band == first_of(block) / row_tiles ? 0 : 1);
  }
};

template <uint32_t kStages>
struct Barriers {
  uint64_t full[kStages];
  uint64_t empty[kStages];
};

// The thread that copies tiles and x ahead. Packed weights do not wait for the work before.
template <typename F>
class Copier {
 public:
  __device__ Copier(const MatrixJob& matrix, const Share& share, const uint4* image,
                    uint32_t stages, const Barriers<F::kStages>& barriers)
      : matrix_(matrix), share_(share), image_(image), stages_(stages), barriers_(barriers) {}

  __device__ void run() const {
    const uint32_t units = share_.end - share_.begin;
    const uint32_t first = min(F::kStages, units);
    for (uint32_t i = 0; i < first; ++i) copy_tiles(i);
    wait_for_those_before();
    for (uint32_t i = 0; i < first; ++i) copy_x(i);
    for (uint32_t i = first; i < units; ++i) {
      wait(shared_address(&barriers_.empty[i % F::kStages]), (i / F::kStages - 1) & 1);
      copy_tiles(i);
      copy_x(i);
    }
  }

 private:
  __device__ uint32_t full(uint32_t i) const {
    return shared_address(&barriers_.full[i % F::kStages]);
  }
  __device__ uint32_t stage(uint32_t i) const { return stages_ + i % F::kStages * F::kStageBytes; }

  // Says how much will come for the stage, too.
  __device__ void copy_tiles(uint32_t i) const {
    const uint32_t unit = share_.begin + i;
    const uint32_t blocks = (matrix_.rows + kTileRows - 1) / kTileRows;
    const uint32_t first = unit / share_.row_tiles * F::kBands;
    const uint32_t bands = min(F::kBands, blocks - first);
    expect_bytes(full(i), F::kImageTile + bands * kTileBytes);
    for (uint32_t band = 0; band < bands; ++band) {
      copy_in(stage(i) + F::kImageTile + band * kTileBytes,
              lane_tile(matrix_, first + band, unit % share_.row_tiles, 0), kTileBytes, full(i));
    }
  }
  __device__ void copy_x(uint32_t i) const {
    const uint32_t tile = (share_.begin + i) % share_.row_tiles;
    copy_in(stage(i), image_ + uint64_t{tile} * F::kColumns * kPieces, F::kImageTile, full(i));
  }

  const MatrixJob& matrix_;
  const Share& share_;
  const uint4* image_;
  uint32_t stages_;
  const Barriers<F::kStages>& barriers_;
};

// The value of x in this column, for the first of its rows; the next row's is `kNextRow` on.
constexpr uint32_t kNextRow = 8;
template <uint32_t kColumns>
__device__ __forceinline__ const uint16_t* find_in_image(const uint4* image, uint32_t column) {
  const uint32_t at = column % kTileColumns;
  const uint32_t piece = at / 32 * 4 + at / 2 % 4;
  return reinterpret_cast<const uint16_t*>(
             image + (uint64_t{column / kTileColumns} * kPieces + piece) * kColumns) +
         at / 8 % 4 * 2 + at % 2;
}

}  // namespace hoist::tensors::packed
