// Spectral encoding: the orthonormal two-dimensional cosine transform (codec/dct.h) of the matrix,
// rows x columns, row-major; format.h has the bytes.
//
// Common coefficients ("essential") are those of the lowest frequencies: coefficient (i, j) comes
// before (k, l) where i * columns + j * rows is smaller, and where it is equal, where i is smaller.
// That is i / rows + j / columns in integers. They are the beginnings of rows:
// row i has `length(i)` of them, and no row has more than the row before. In a fragment they lie
// row by row. Dealt items are the other coefficients, row by row.
//
// Smooth tensors have their energy in the essential coefficients. Weights have not: for them the
// encoding's worth is that every fragment matters equally.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

class EssentialRegion {
 public:
  // The `count` lowest frequencies; at most rows * columns. Rows and columns of at most 2^27.
  EssentialRegion(MatrixShape matrix, uint64_t count);

  uint64_t length(uint64_t row) const { return before_[row + 1] - before_[row]; }
  // Essential coefficients, or dealt items, in the rows before `row`; `row` may be rows().
  uint64_t before(uint64_t row) const { return before_[row]; }
  uint64_t items_before(uint64_t row) const { return row * columns_ - before_[row]; }
  uint64_t rows() const { return before_.size() - 1; }
  uint64_t columns() const { return columns_; }
  // The row of a dealt item.
  uint64_t row_of_item(uint64_t item) const;

 private:
  uint64_t columns_;
  std::vector<uint64_t> before_;  // rows + 1
};

// Essential coefficients of a matrix of `elements`: `share` of them, rounded up, at least one, and
// as many more as make the rest a multiple of `fragments`.
uint64_t essential_count(uint64_t elements, double share, uint32_t fragments);

}  // namespace hoist::tensors
