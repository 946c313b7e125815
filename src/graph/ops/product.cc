// Large products go block by block, so that what is used again lies in a near cache (K. Goto and R.
// van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008): kProductDepth rows
// of B are copied into panels as wide as a tile, kRows rows of A into panels as high as one, and
// tiles run over both. Small ones are used where they lie.
#include "graph/ops/product.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "graph/ops/kernels.h"

namespace hoist::graph {
namespace {

using ops_detail::Kernels;

constexpr size_t kRows = 16;       // tiles
constexpr size_t kColumns = 2048;  // elements
// Up to so many multiplications a copy costs more than it saves.
constexpr size_t kMostInPlace = size_t{520} * 520 * 520;

struct Free {
  void operator()(float* at) const { ::operator delete[](at, std::align_val_t{64}); }
};

// Kept by each thread that multiplies: fresh pages would cost more than a product of 200 x 200.
class Panels {
 public:
  float* of(size_t elements) {
    if (elements > elements_) {
      room_.reset();
      elements_ = 0;
      room_.reset(new (std::align_val_t{64}) float[elements]);
      elements_ = elements;
    }
    return room_.get();
  }

 private:
  std::unique_ptr<float[], Free> room_;
  size_t elements_ = 0;
};

void in_place(const Kernels<float>& kernels, const ProductShape& shape, const float* a,
              const float* b, float* c) {
  const auto [rows, columns] = kernels.tile_size;
  for (size_t p = 0; p < shape.depth; p += kProductDepth) {
    const size_t depth = std::min(kProductDepth, shape.depth - p);
    for (size_t j = 0; j < shape.columns; j += columns) {
      const size_t wide = std::min(columns, shape.columns - j);
      for (size_t i = 0; i < shape.rows; i += rows) {
        kernels.tile(a + i * shape.a_row + p, shape.a_row, 1, b + p * shape.b_row + j, shape.b_row,
                     c + i * shape.c_row + j, shape.c_row, std::min(rows, shape.rows - i), wide,
                     depth, p == 0);
      }
    }
  }
}

// `count` rows of B from `b` on as panels of `width` columns, the last one filled up with zeros.
void copy_columns(const float* b, size_t b_row, size_t count, size_t columns, size_t width,
                  float* to) {
  for (size_t j = 0; j < columns; j += width) {
    const size_t wide = std::min(width, columns - j);
    for (size_t p = 0; p < count; ++p, to += width) {
      std::memcpy(to, b + p * b_row + j, wide * sizeof(float));
      std::fill(to + wide, to + width, 0.0f);
    }
  }
}

// Four columns of four rows of A, as they lie in a panel `height` high.
void copy_block(const float* a, size_t a_row, size_t height, float* to) {
  typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
  Four row[4];
  for (size_t r = 0; r < 4; ++r) row[r] = *reinterpret_cast<const Four*>(a + r * a_row);
  const Four low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Four low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Four high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const auto store = [&](size_t p, Four column) {
    *reinterpret_cast<Four*>(to + p * height) = column;
  };
  store(0, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
  store(1, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
  store(2, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
  store(3, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

// `count` columns of `rows` rows of A as panels of `height` rows, column by column.
void copy_rows(const float* a, size_t a_row, size_t rows, size_t count, size_t height, float* to) {
  for (size_t i = 0; i < rows; i += height, to += count * height) {
    const size_t high = std::min(height, rows - i);
    size_t p = 0;
    for (; p + 4 <= count; p += 4) {
      const float* const from = a + i * a_row + p;
      size_t r = 0;
      for (; r + 4 <= high; r += 4)
        copy_block(from + r * a_row, a_row, height, to + p * height + r);
      for (; r < high; ++r) {
        for (size_t q = 0; q < 4; ++q) to[(p + q) * height + r] = from[r * a_row + q];
      }
    }
    for (; p < count; ++p) {
      for (size_t r = 0; r < high; ++r) to[p * height + r] = a[(i + r) * a_row + p];
    }
  }
}

void by_blocks(const Kernels<float>& kernels, const ProductShape& shape, const float* a,
               const float* b, float* c) {
  const auto [height, width] = kernels.tile_size;
  const size_t block_rows = kRows * height;
  const size_t block_columns = std::min(kColumns, (shape.columns + width - 1) / width * width);
  thread_local Panels panels;
  float* const a_panels = panels.of((block_rows + block_columns) * kProductDepth);
  float* const b_panels = a_panels + block_rows * kProductDepth;
  for (size_t j = 0; j < shape.columns; j += block_columns) {
    const size_t columns = std::min(block_columns, shape.columns - j);
    for (size_t p = 0; p < shape.depth; p += kProductDepth) {
      const size_t depth = std::min(kProductDepth, shape.depth - p);
      copy_columns(b + p * shape.b_row + j, shape.b_row, depth, columns, width, b_panels);
      for (size_t i = 0; i < shape.rows; i += block_rows) {
        const size_t rows = std::min(block_rows, shape.rows - i);
        copy_rows(a + i * shape.a_row + p, shape.a_row, rows, depth, height, a_panels);
        for (size_t jj = 0; jj < columns; jj += width) {
          for (size_t ii = 0; ii < rows; ii += height) {
            kernels.tile(a_panels + ii * depth, 1, height, b_panels + jj * depth, width,
                         c + (i + ii) * shape.c_row + j + jj, shape.c_row,
                         std::min(height, rows - ii), std::min(width, columns - jj), depth, p == 0);
          }
        }
      }
    }
  }
}

}  // namespace

void ops_detail::multiply(const Kernels<float>& kernels, const ProductShape& shape, const float* a,
                          const float* b, float* c) {
  if (shape.depth == 0) {
    for (size_t i = 0; i < shape.rows; ++i) std::fill_n(c + i * shape.c_row, shape.columns, 0.0f);
  } else if (shape.rows <= kernels.tile_size.rows ||
             shape.rows * shape.columns * shape.depth <= kMostInPlace) {
    in_place(kernels, shape, a, b, c);
  } else {
    by_blocks(kernels, shape, a, b, c);
  }
}

void multiply(const ProductShape& shape, const float* a, const float* b, float* c) {
  ops_detail::multiply(ops_detail::kernels_f32(), shape, a, b, c);
}

void multiply(size_t rows, size_t columns, const float* a, const float* x, float* y) {
  const Kernels<float>& kernels = ops_detail::kernels_f32();
  for (size_t i = 0; i < rows; ++i) y[i] = kernels.dot(a + i * columns, x, columns);
}

}  // namespace hoist::graph
