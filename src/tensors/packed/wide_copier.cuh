// How multiply_wide.cu shares out work, and the thread that copies packed weights and x ahead.
#pragma once

#include <cstdint>

#include "tensors/packed/barrier.cuh"
#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/product_end.cuh"

namespace hoist::tensors::packed {

constexpr uint32_t kPieces = 8;  // of a tile's columns: words 8 q + p of each lane q
// Tiles of a row block that are copied at a time. A copy costs as much for 1.5 KiB as for 3.
constexpr uint32_t kUnitTiles = 2;
constexpr uint32_t kCopiers = 4;  // warps whose first thread copies

constexpr uint32_t kBands = 8;  // row blocks that a block of threads works on: one for each warp
constexpr uint32_t kWorkers = kBands * kLanes;
constexpr uint32_t kThreads = kWorkers + kCopiers * kLanes;

// kColumnsOfX: rows of x, rounded up. kStagesAhead: units that are copied ahead. Few are best: with
// more the first x comes late, behind the weights that were asked for before it.
template <uint32_t kColumnsOfX, uint32_t kStagesAhead>
struct Form {
  static constexpr uint32_t kColumns = kColumnsOfX;
  static constexpr uint32_t kStages = kStagesAhead;
  static constexpr uint32_t kImageTile = kColumns * kTileColumns * 2;  // bytes of x for one tile
  static constexpr uint32_t kImageUnit = kUnitTiles * kImageTile;
  static constexpr uint32_t kStageBytes = kImageUnit + kBands * kUnitTiles * kTileBytes;
};

// What all blocks of threads share out: band by band, unit by unit.
struct Share {
  uint32_t row_tiles;
  uint32_t row_units;
  uint32_t units;
  uint32_t begin;
  uint32_t end;

  __device__ explicit Share(const MatrixJob& matrix)
      : row_tiles((matrix.columns + kTileColumns - 1) / kTileColumns),
        row_units((row_tiles + kUnitTiles - 1) / kUnitTiles) {
    const uint32_t blocks = (matrix.rows + kTileRows - 1) / kTileRows;
    units = (blocks + kBands - 1) / kBands * row_units;
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
    return 2 * block + (band == first_of(block) / row_units ? 0 : 1);
  }
};

template <uint32_t kStages>
struct Barriers {
  uint64_t full[kStages];
  uint64_t empty[kStages];
};

// A thread that copies tiles and x ahead: those of every kCopiers-th row block from `first` on, and
// the first one x. Packed weights do not wait for the work before.
template <typename F>
class Copier {
 public:
  __device__ Copier(const MatrixJob& matrix, const Share& share, const uint4* image,
                    uint32_t stages, const Barriers<F::kStages>& barriers, uint32_t first)
      : matrix_(matrix),
        share_(share),
        image_(image),
        stages_(stages),
        barriers_(barriers),
        first_(first) {}

  __device__ void run() {
    const uint32_t units = share_.end - share_.begin;
    const uint32_t early = min(F::kStages, units);
    for (uint32_t i = 0; i < early; ++i) copy_tiles(i, share_.begin + i);
    wait_for_those_before();
    for (uint32_t i = 0; i < early; ++i) copy_x(i, share_.begin + i);
    uint32_t stage = 0;
    uint32_t parity = 0;
    for (uint32_t unit = share_.begin + early; unit < share_.end; ++unit) {
      wait(shared_address(&barriers_.empty[stage]), parity);
      copy_tiles(stage, unit);
      copy_x(stage, unit);
      if (++stage == F::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }

 private:
  __device__ uint32_t full(uint32_t stage) const { return shared_address(&barriers_.full[stage]); }
  __device__ uint32_t place(uint32_t stage) const { return stages_ + stage * F::kStageBytes; }
  __device__ uint32_t tiles_from(uint32_t tile) const {
    return min(kUnitTiles, share_.row_tiles - tile);
  }

  // The first thread says how much will come for the stage from all.
  __device__ void copy_tiles(uint32_t stage, uint32_t unit) const {
    const uint32_t blocks = (matrix_.rows + kTileRows - 1) / kTileRows;
    const uint32_t block = unit / share_.row_units * kBands;
    const uint32_t tile = unit % share_.row_units * kUnitTiles;
    const uint32_t tiles = tiles_from(tile);
    const uint32_t bands = min(kBands, blocks - block);
    if (first_ == 0) expect_bytes(full(stage), tiles * (F::kImageTile + bands * kTileBytes));
    const uint4* from = lane_tile(matrix_, block + first_, tile, 0);
    const uint64_t next = uint64_t{kCopiers} * share_.row_tiles * kTilePieces;
    for (uint32_t band = first_; band < bands; band += kCopiers, from += next) {
      copy_in(place(stage) + F::kImageUnit + band * kUnitTiles * kTileBytes, from,
              tiles * kTileBytes, full(stage));
    }
  }
  __device__ void copy_x(uint32_t stage, uint32_t unit) const {
    if (first_ != 0) return;
    const uint32_t tile = unit % share_.row_units * kUnitTiles;
    copy_in(place(stage), image_ + uint64_t{tile} * F::kColumns * kPieces,
            tiles_from(tile) * F::kImageTile, full(stage));
  }

  const MatrixJob& matrix_;
  const Share& share_;
  const uint4* image_;
  uint32_t stages_;
  const Barriers<F::kStages>& barriers_;
  uint32_t first_;
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
