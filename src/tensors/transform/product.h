// Products of float matrices, row-major: what low-rank tensors are made with.
#pragma once

#include <cstddef>
#include <span>

#include "base/threads.h"

namespace hoist::tensors {

struct MatrixView {
  const float* values;
  size_t rows;
  size_t columns;
  size_t stride;  // from row to row
};

// c = a * b; `c` has a.rows * b.columns values and overlaps neither. The same bits with any number
// of threads, on processors of the same instruction set.
void multiply(const MatrixView& a, const MatrixView& b, std::span<float> c,
              ThreadPool* pool = nullptr);

// `to` gets columns * rows values.
void transpose(const MatrixView& from, std::span<float> to);

namespace product_detail {

// A tile of the product: kTileRows x `columns`, row by row, of `depth` columns of a and rows of b,
// each packed so that they lie one after the other.
inline constexpr size_t kTileRows = 6;
struct Kernel {
  const char* name;
  size_t columns;
  void (*run)(const float* a, const float* b, size_t depth, float* tile);
};

// What this processor can run, widest vectors first, down to single values.
std::span<const Kernel> kernels();

void multiply_with(const Kernel& kernel, const MatrixView& a, const MatrixView& b,
                   std::span<float> c, ThreadPool* pool);

}  // namespace product_detail
}  // namespace hoist::tensors
