#include "graph/program/run_product.h"

#include <algorithm>

#include "graph/ops/product.h"
#include "graph/program/move.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {
namespace {

// Row-major, in tiles that stay in the nearest cache.
template <typename T>
void pack(const T* from, int64_t row, int64_t column, size_t rows, size_t columns, T* to) {
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

// Copies a matrix as it lies in memory, from its first element on, as lanes.
template <typename T>
void pack_matrix(const Operand& operand, const std::byte* from, int64_t row, int64_t column,
                 size_t rows, size_t columns, T* to) {
  if (!operand.is_converted) {
    return pack(reinterpret_cast<const T*>(from), row, column, rows, columns, to);
  }
  widen_matrix(operand.dtype, from, row, column, rows, columns, to);
}

// Few rows and a B beyond the nearest cache: reading B once, as it lies, is all that counts.
constexpr int64_t kFewRows = 3;
constexpr size_t kLargeB = size_t{12} << 10;  // floats

// `rows`: of the whole product, which alone decides about the order of its sums.
void multiply_rows(int64_t rows, const ProductShape& shape, const float* a, const float* b,
                   float* c) {
  if (rows > kFewRows || shape.depth * shape.columns < kLargeB || shape.columns < 64) {
    return multiply(shape, a, b, c);
  }
  for (size_t i = 0; i < shape.rows; ++i) {
    steps().row_product(a + i * shape.a_row, b, shape.b_row, c + i * shape.c_row, shape.columns,
                        shape.depth);
  }
}

void multiply_rows(int64_t /*rows*/, const ProductShape& shape, const double* a, const double* b,
                   double* c) {
  typed_steps().product_f64(shape, a, b, c);
}
void multiply_rows(int64_t /*rows*/, const ProductShape& shape, const int64_t* a, const int64_t* b,
                   int64_t* c) {
  typed_steps().product_i64(shape, a, b, c);
}

template <typename T>
void run(const Loop& loop, std::byte* const* origins, std::byte* scratch, int64_t first,
         int64_t last, const void*& packed) {
  const LoopProduct& product = *loop.product;
  const Operand& a = loop.operands[product.a];
  const Operand& b = loop.operands[product.b];
  const Operand& c = loop.operands[product.c];
  const auto columns = static_cast<size_t>(loop.columns);
  const auto rows = static_cast<size_t>(last - first);
  const std::byte* const a_from = origins[product.a] + first * a.row * a.item;
  const T* a_at = reinterpret_cast<const T*>(a_from);
  T* const c_at =
      reinterpret_cast<T*>(origins[product.c]) + (c.place == Place::product ? 0 : first * c.row);
  ProductShape shape{rows,
                     columns,
                     product.depth,
                     static_cast<size_t>(a.row),
                     static_cast<size_t>(product.b_depth),
                     static_cast<size_t>(c.row)};
  if (product.packs_a) {
    T* const to = reinterpret_cast<T*>(scratch + product.a_scratch);
    pack_matrix(a, a_from, a.row, product.a_depth, rows, product.depth, to);
    a_at = to;
    shape.a_row = product.depth;
  }
  const auto packed_b = [&](int64_t row) {
    const std::byte* const from = origins[product.b] + row * b.row * b.item;
    if (!product.packs_b) return reinterpret_cast<const T*>(from);
    T* const to = reinterpret_cast<T*>(scratch + product.b_scratch);
    if (packed != from) {
      pack_matrix(b, from, product.b_depth, product.b_column, product.depth, columns, to);
      packed = from;
    }
    shape.b_row = columns;
    return static_cast<const T*>(to);
  };
  if (b.row == 0) {
    const T* const from = packed_b(0);
    return multiply_rows(loop.rows, shape, a_at, from, c_at);
  }
  shape.rows = 1;
  for (int64_t r = 0; r < last - first; ++r) {
    const T* const from = packed_b(first + r);
    const int64_t a_row = static_cast<int64_t>(shape.a_row);
    multiply_rows(1, shape, a_at + r * a_row, from, c_at + r * c.row);
  }
}

}  // namespace

void run_product(const Loop& loop, std::byte* const* origins, std::byte* scratch, int64_t first,
                 int64_t last, const void*& packed) {
  switch (loop.product->lanes) {
    case Lanes::f32:
      return run<float>(loop, origins, scratch, first, last, packed);
    case Lanes::f64:
      return run<double>(loop, origins, scratch, first, last, packed);
    default:
      return run<int64_t>(loop, origins, scratch, first, last, packed);
  }
}

}  // namespace hoist::graph::program
