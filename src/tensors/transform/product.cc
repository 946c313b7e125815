// Blocks as Goto and van de Geijn place them ("Anatomy of high-performance matrix multiplication",
// ACM TOMS 34, 2008): a block of `a` stays in the second cache, a panel of `b` in the first, a tile
// of the product in registers. Written once for vectors of any width in the vector extensions of
// GCC and clang.
#include "tensors/transform/product.h"

#include <algorithm>
#include <vector>

#include "base/float_vectors.h"
#include "tensors/transform/tasks.h"

namespace hoist::tensors {
namespace product_detail {
namespace {

constexpr size_t kDepth = 256;
constexpr size_t kBlockRows = 16 * kTileRows;

template <size_t kLanes, size_t kVectors>
[[gnu::always_inline]] inline void tile_product(const float* a, const float* b, size_t depth,
                                                float* tile) {
  using Stored = typename FloatVectors<kLanes>::Stored;
  typename FloatVectors<kLanes>::Floats sums[kTileRows][kVectors] = {};
  for (size_t k = 0; k < depth; ++k) {
    typename FloatVectors<kLanes>::Floats row[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      row[v] = reinterpret_cast<const Stored*>(b + k * kVectors * kLanes)[v];
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) sums[i][v] += a[k * kTileRows + i] * row[v];
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      reinterpret_cast<Stored*>(tile)[i * kVectors + v] = sums[i][v];
    }
  }
}

void run_1(const float* a, const float* b, size_t depth, float* tile) {
  tile_product<1, 2>(a, b, depth, tile);
}
void run_4(const float* a, const float* b, size_t depth, float* tile) {
  tile_product<4, 2>(a, b, depth, tile);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void run_8(const float* a, const float* b, size_t depth, float* tile) {
  tile_product<8, 2>(a, b, depth, tile);
}
[[gnu::target("avx512f")]] void run_16(const float* a, const float* b, size_t depth, float* tile) {
  tile_product<16, 4>(a, b, depth, tile);
}
#endif

// Columns [first, first + width) of rows [row, row + depth), filled up with zeros.
void pack_b(const MatrixView& b, size_t row, size_t depth, size_t first, size_t width, float* to) {
  const size_t count = std::min(width, b.columns - first);
  for (size_t k = 0; k < depth; ++k) {
    const float* const from = b.values + (row + k) * b.stride + first;
    std::copy_n(from, count, to + k * width);
    std::fill(to + k * width + count, to + (k + 1) * width, 0.0f);
  }
}

void pack_a(const MatrixView& a, size_t row, size_t rows, size_t column, size_t depth, float* to) {
  for (size_t tile = 0; tile < rows; tile += kTileRows) {
    for (size_t i = 0; i < kTileRows; ++i) {
      const bool inside = tile + i < rows;
      const float* const from = a.values + (row + tile + i) * a.stride + column;
      for (size_t k = 0; k < depth; ++k) to[k * kTileRows + i] = inside ? from[k] : 0.0f;
    }
    to += depth * kTileRows;
  }
}

}  // namespace

std::span<const Kernel> kernels() {
#if defined(__x86_64__)
  static constexpr Kernel kAll[] = {
      {"avx512", 64, run_16}, {"avx2", 16, run_8}, {"vector4", 8, run_4}, {"scalar", 2, run_1}};
  static const auto here = runnable(std::span<const Kernel, 4>(kAll));
  return here;
#else
  static constexpr Kernel kAll[] = {{"vector4", 8, run_4}, {"scalar", 2, run_1}};
  return kAll;
#endif
}

void multiply_with(const Kernel& kernel, const MatrixView& a, const MatrixView& b,
                   std::span<float> c, ThreadPool* pool) {
  std::fill(c.begin(), c.end(), 0.0f);
  const size_t blocks = (a.rows + kBlockRows - 1) / kBlockRows;
  run_tasks(pool, blocks, [&](size_t block) {
    const size_t row = block * kBlockRows;
    const size_t rows = std::min(kBlockRows, a.rows - row);
    std::vector<float> packed_a(kBlockRows * kDepth);
    std::vector<float> packed_b(kernel.columns * kDepth);
    std::vector<float> tile(kTileRows * kernel.columns);
    for (size_t k = 0; k < a.columns; k += kDepth) {
      const size_t depth = std::min(kDepth, a.columns - k);
      pack_a(a, row, rows, k, depth, packed_a.data());
      for (size_t column = 0; column < b.columns; column += kernel.columns) {
        pack_b(b, k, depth, column, kernel.columns, packed_b.data());
        const size_t width = std::min(kernel.columns, b.columns - column);
        for (size_t first = 0; first < rows; first += kTileRows) {
          kernel.run(packed_a.data() + first * depth, packed_b.data(), depth, tile.data());
          for (size_t i = 0; i < std::min(kTileRows, rows - first); ++i) {
            float* const to = c.data() + (row + first + i) * b.columns + column;
            for (size_t j = 0; j < width; ++j) to[j] += tile[i * kernel.columns + j];
          }
        }
      }
    }
  });
}

}  // namespace product_detail

void multiply(const MatrixView& a, const MatrixView& b, std::span<float> c, ThreadPool* pool) {
  product_detail::multiply_with(product_detail::kernels().front(), a, b, c, pool);
}

// In squares that two sets of cache lines hold.
void transpose(const MatrixView& from, std::span<float> to) {
  constexpr size_t kSquare = 16;
  for (size_t row = 0; row < from.rows; row += kSquare) {
    const size_t row_end = std::min(from.rows, row + kSquare);
    for (size_t column = 0; column < from.columns; column += kSquare) {
      const size_t column_end = std::min(from.columns, column + kSquare);
      for (size_t j = column; j < column_end; ++j) {
        for (size_t i = row; i < row_end; ++i)
          to[j * from.rows + i] = from.values[i * from.stride + j];
      }
    }
  }
}

}  // namespace hoist::tensors
