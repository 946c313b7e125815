#include "graph/program/run_product.h"

#include <algorithm>

#include "graph/ops/product.h"
#include "graph/program/steps.h"

namespace hoist::graph::program {
namespace {

// Row-major, in tiles that stay in the nearest cache.
void pack(const float* from, int64_t row, int64_t column, size_t rows, size_t columns, float* to) {
  constexpr size_t kTile = 16;
  for (size_t i = 0; i < rows; i += kTile) {
    const size_t last_row = std::min(rows, i + kTile);
    for (size_t j = 0; j < columns; j += kTile) {
      const size_t last_column = std::min(columns, j + kTile);
      for (size_t r = i; r < last_row; ++r) {
        for (size_t c = j; c < last_column; ++c) {
          to[r * columns + c] =
              from[static_cast<int64_t>(r) * row + static_cast<int64_t>(c) * column];
        }
      }
    }
  }
}

// Few rows and a B beyond the nearest cache: reading B once, as it lies, is all that counts.
constexpr size_t kFewRows = 3;
constexpr size_t kLargeB = size_t{12} << 10;  // floats

void multiply_rows(const ProductShape& shape, const float* a, const float* b, float* c) {
  if (shape.rows > kFewRows || shape.depth * shape.columns < kLargeB || shape.columns < 64) {
    return multiply(shape, a, b, c);
  }
  for (size_t i = 0; i < shape.rows; ++i) {
    steps().row_product(a + i * shape.a_row, b, shape.b_row, c + i * shape.c_row, shape.columns,
                        shape.depth);
  }
}

}  // namespace

void run_product(const Loop& loop, float* const* origins, float* scratch, int64_t first,
                 int64_t last, const float*& packed) {
  const LoopProduct& product = *loop.product;
  const Operand& a = loop.operands[product.a];
  const Operand& b = loop.operands[product.b];
  const Operand& c = loop.operands[product.c];
  const auto columns = static_cast<size_t>(loop.columns);
  const auto rows = static_cast<size_t>(last - first);
  const float* a_at = origins[product.a] + first * a.row;
  float* const c_at = origins[product.c] + (c.place == Place::product ? 0 : first * c.row);
  ProductShape shape{rows,
                     columns,
                     product.depth,
                     static_cast<size_t>(a.row),
                     static_cast<size_t>(product.b_depth),
                     static_cast<size_t>(c.row)};
  if (product.packs_a) {
    pack(a_at, a.row, product.a_depth, rows, product.depth, scratch + product.a_scratch);
    a_at = scratch + product.a_scratch;
    shape.a_row = product.depth;
  }
  const auto packed_b = [&](const float* b_at) {
    if (!product.packs_b) return b_at;
    float* const to = scratch + product.b_scratch;
    if (packed != b_at) {
      pack(b_at, product.b_depth, product.b_column, product.depth, columns, to);
      packed = b_at;
    }
    shape.b_row = columns;
    return static_cast<const float*>(to);
  };
  const float* const b_at = origins[product.b];
  if (b.row == 0) {
    const float* const from = packed_b(b_at);
    return multiply_rows(shape, a_at, from, c_at);
  }
  shape.rows = 1;
  for (int64_t r = 0; r < last - first; ++r) {
    const float* const from = packed_b(b_at + (first + r) * b.row);
    const int64_t a_row = static_cast<int64_t>(shape.a_row);
    multiply_rows(shape, a_at + r * a_row, from, c_at + r * c.row);
  }
}

}  // namespace hoist::graph::program
