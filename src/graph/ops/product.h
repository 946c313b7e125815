// Matrix products of row-major f32 matrices, on the calling thread.
#pragma once

#include <cstddef>

namespace hoist::graph {

// The shape of C = A B: A has `rows` rows, B `columns` columns, and both meet in `depth`. Of each
// matrix the distance between the beginnings of two rows, in elements.
struct ProductShape {
  size_t rows = 0;
  size_t columns = 0;
  size_t depth = 0;
  size_t a_row = 0;
  size_t b_row = 0;
  size_t c_row = 0;

  // Matrices without gaps.
  static ProductShape dense(size_t rows, size_t columns, size_t depth) {
    return {rows, columns, depth, depth, columns, columns};
  }
};

// The terms of an element are summed in their order, so many at a time, and then these sums are.
inline constexpr size_t kProductDepth = 512;

// C = A B; zeros where depth is 0. C overlaps neither. |error| of C(i, j) <= depth u sum of |A(i,
// p) B(p, j)|, u = 2^-24. An element has the same bits in each product that has its row and column.
void multiply(const ProductShape& shape, const float* a, const float* b, float* c);

// y = A x for `rows` rows of `columns` elements without gaps. y overlaps neither. Each row is
// summed as sum() of ops.h does.
void multiply(size_t rows, size_t columns, const float* a, const float* x, float* y);

}  // namespace hoist::graph
