// The threads of multiply_wide.cu that multiply.
#pragma once

#include <cstdint>

#include "tensors/packed/barrier.cuh"
#include "tensors/packed/fragments.cuh"
#include "tensors/packed/gpu_job.h"
#include "tensors/packed/product_end.cuh"
#include "tensors/packed/wgmma.cuh"
#include "tensors/packed/wide_copier.cuh"

namespace hoist::tensors::packed {

// Where an escape's +0 met an infinity or a NaN of x.
__device__ __noinline__ inline float sum_again(const MatrixJob& matrix, const ProductJob& product,
                                               uint32_t row, uint32_t i) {
  return exact_sum(matrix, row, product.x + i * product.x_stride);
}

__device__ __noinline__ inline float activated(float sum, Activation activation) {
  return activate(sum, activation);
}

// What one of the working threads does: 32 rows of 4 lanes each, of which it has sums of rows g and
// g + 8 and of columns 8 c + 2 q and the next.
template <typename F>
class Worker {
 public:
  __device__ Worker(const MatrixJob& matrix, const ProductJob& product, const Share& share,
                    const uint4* image, const uint8_t* stages, Barriers<F::kStages>& barriers)
      : matrix_(matrix),
        product_(product),
        share_(share),
        image_(image),
        stages_(stages),
        barriers_(barriers) {}

  __device__ void run(float* parts, uint32_t* arrivals, bool* is_last) {
    for (uint32_t unit = share_.begin; unit < share_.end;) {
      const uint32_t band = unit / share_.row_units;
      const uint32_t stop = min(share_.end, (band + 1) * share_.row_units);
      const uint32_t first = unit % share_.row_units * kUnitTiles;
      find_escapes(band);
      add_up(band, min((stop - unit) * kUnitTiles, share_.row_tiles - first));
      const bool is_whole = stop - unit == share_.row_units;
      unit = stop;
      if (is_whole || gather(band, parts, arrivals, is_last)) write(band);
    }
  }

 private:
  static constexpr uint32_t kColumns = F::kColumns;

  // Two tiles are under way at a time: one is decoded while the other is multiplied. Units have
  // two.
  __device__ void add_up(uint32_t band, uint32_t tiles) {
    static_assert(kUnitTiles == 2);
    const uint32_t block = band * kBands + warp_;
    factor_ = block * kTileRows < matrix_.rows ? matrix_.factors[block] : 0;
    adds_ = 0;
    Fragment even[4];
    Fragment odd[4];
    wait(shared_address(&barriers_.full[stage_]), parity_);
    step<0>(even);
    for (--tiles; tiles >= 2; tiles -= 2) {
      step<1>(odd);
      wait_for_products<1>();
      const uint32_t done = stage_;
      go_on();
      wait(shared_address(&barriers_.full[stage_]), parity_);
      step<0>(even);
      wait_for_products<1>();
      release(done);
    }
    if (tiles != 0) step<1>(odd);
    wait_for_products<0>();
    release(stage_);
    go_on();
  }

  // The kTile-th tile of the unit.
  template <uint32_t kTile>
  __device__ __forceinline__ void step(Fragment (&weights)[4]) {
    const uint8_t* const here = stages_ + stage_ * F::kStageBytes;
    const auto* const pieces =
        reinterpret_cast<const uint4*>(here + F::kImageUnit +
                                       (warp_ * kUnitTiles + kTile) * kTileBytes) +
        lane_;
    const LaneTile tile = {pieces[0], pieces[kLanes], pieces[2 * kLanes]};
    weights[0] = decode_step(tile.low.x, tile.low.y, tile.codes.x, factor_);
    weights[1] = decode_step(tile.low.z, tile.low.w, tile.codes.y, factor_);
    weights[2] = decode_step(tile.high.x, tile.high.y, tile.codes.z, factor_);
    weights[3] = decode_step(tile.high.z, tile.high.w, tile.codes.w, factor_);
    const uint32_t x = shared_address(here) + kTile * F::kImageTile;
    begin_products();
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      multiply_group<kColumns>(sums_, weights[j],
                               matrix_descriptor(x + 2 * j * kColumns * 16, kColumns * 16, 8 * 16),
                               adds_);
      adds_ = 1;
    }
    commit_products();
  }

  __device__ __forceinline__ void go_on() {
    if (++stage_ == F::kStages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }
  __device__ void release(uint32_t stage) {
    if (lane_ == 0) arrive(shared_address(&barriers_.empty[stage]));
  }

  // Early, as the tables are far.
  __device__ void find_escapes(uint32_t band) {
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t row = row_of(band) + half * kTileRows / 2;
      begins_[half] = row < matrix_.rows ? matrix_.row_escapes[row] : 0;
      ends_[half] = row < matrix_.rows ? matrix_.row_escapes[row + 1] : 0;
    }
  }
  __device__ uint32_t row_of(uint32_t band) const {
    return (band * kBands + warp_) * kTileRows + lane_ / 4;
  }

  // Leaves this block's part; whether it was the last, and has all of the sum now.
  __device__ bool gather(uint32_t band, float* parts, uint32_t* arrivals, bool* is_last) {
    constexpr uint32_t kPart = kWorkers * kColumns / 2;
    auto* const own =
        reinterpret_cast<float4*>(parts + uint64_t{share_.part_of(blockIdx.x, band)} * kPart);
#pragma unroll
    for (uint32_t c = 0; c < kColumns / 8; ++c) {
      own[c * kWorkers + threadIdx.x] =
          make_float4(sums_[4 * c], sums_[4 * c + 1], sums_[4 * c + 2], sums_[4 * c + 3]);
    }
    const uint32_t first = share_.owner_of(band * share_.row_units);
    const uint32_t last = share_.owner_of((band + 1) * share_.row_units - 1);
    __threadfence();
    meet();
    if (threadIdx.x == 0) *is_last = atomicAdd(arrivals + band, 1U) == last - first;
    meet();
    if (!*is_last) return false;
    __threadfence();
#pragma unroll
    for (uint32_t i = 0; i < kColumns / 2; ++i) sums_[i] = 0;
    for (uint32_t block = first; block <= last; ++block) {
      const auto* const part =
          reinterpret_cast<const float4*>(parts + uint64_t{share_.part_of(block, band)} * kPart);
#pragma unroll
      for (uint32_t c = 0; c < kColumns / 8; ++c) {
        const float4 four = __ldcg(part + c * kWorkers + threadIdx.x);
        sums_[4 * c] += four.x;
        sums_[4 * c + 1] += four.y;
        sums_[4 * c + 2] += four.z;
        sums_[4 * c + 3] += four.w;
      }
    }
    return true;
  }
  // All workers, and not the thread that copies.
  __device__ static void meet() { asm volatile("bar.sync 1, %0;" ::"n"(kWorkers) : "memory"); }

  __device__ void write(uint32_t band) {
    const uint32_t row = row_of(band);
    write_row<0>(row);
    write_row<1>(row + kTileRows / 2);
  }

  // Sums of one row are ended together, so that loads for one do not wait for those of another.
  template <uint32_t kHalf>
  __device__ void write_row(uint32_t row) {
    if (row >= matrix_.rows) return;
    const uint32_t begin = begins_[kHalf];
    const uint32_t end = ends_[kHalf];
    for (uint32_t at = begin; at < end; ++at) {
      const Escape escape = matrix_.escapes[at];
      const float weight = f32_of(escape.bits);
      const uint16_t* const x = find_in_image<kColumns>(image_, escape.column);
#pragma unroll
      for (uint32_t i = 0; i < kColumns / 4; ++i) {
        sums_[sum_of<kHalf>(i)] += weight * f32_of(x[column_of(i) * kNextRow]);
      }
    }
    const float bias = product_.bias != nullptr ? f32_of(product_.bias[row]) : 0;
#pragma unroll
    for (uint32_t i = 0; i < kColumns / 4; ++i) {
      const uint32_t to = column_of(i);
      if (to >= product_.count) continue;
      float sum = sums_[sum_of<kHalf>(i)];
      if (begin < end && !isfinite(sum)) sum = sum_again(matrix_, product_, row, to);
      if (product_.bias != nullptr) sum += bias;
      if (product_.activation != Activation::none) sum = activated(sum, product_.activation);
      product_.y[to * product_.y_stride + row] = bf16_of(sum);
    }
  }
  // The i-th of a thread's columns, and where its sum for row g (+ 8 kHalf) is.
  __device__ uint32_t column_of(uint32_t i) const { return i / 2 * 8 + lane_ % 4 * 2 + i % 2; }
  template <uint32_t kHalf>
  __device__ static constexpr uint32_t sum_of(uint32_t i) {
    return i / 2 * 4 + kHalf * 2 + i % 2;
  }

  const MatrixJob& matrix_;
  const ProductJob& product_;
  const Share& share_;
  const uint4* image_;
  const uint8_t* stages_;
  Barriers<F::kStages>& barriers_;
  const uint32_t lane_ = threadIdx.x % kLanes;
  const uint32_t warp_ = __shfl_sync(~0U, threadIdx.x / kLanes, 0);
  uint32_t factor_ = 0;
  uint32_t stage_ = 0;
  uint32_t parity_ = 0;
  uint32_t begins_[2];  // escapes of the two rows
  uint32_t ends_[2];
  int adds_ = 0;
  float sums_[kColumns / 2];
};

}  // namespace hoist::tensors::packed
