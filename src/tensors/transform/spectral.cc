#include "tensors/transform/spectral.h"

#include <algorithm>
#include <cmath>

namespace hoist::tensors {
namespace {

// Coefficients of row i that come before frequency `key`: j with i * columns + j * rows < key.
uint64_t below(MatrixShape matrix, uint64_t row, uint64_t key) {
  const uint64_t start = row * matrix.columns;
  if (key <= start) return 0;
  return std::min(matrix.columns, (key - start - 1) / matrix.rows + 1);
}

uint64_t count_below(MatrixShape matrix, uint64_t key) {
  uint64_t count = 0;
  for (uint64_t row = 0; row < matrix.rows && row * matrix.columns < key; ++row) {
    count += below(matrix, row, key);
  }
  return count;
}

}  // namespace

EssentialRegion::EssentialRegion(MatrixShape matrix, uint64_t count)
    : columns_(matrix.columns), before_(matrix.rows + 1) {
  // The largest key below which there are no more than `count`; the rest is of that frequency.
  uint64_t key = 0;
  uint64_t end = 2 * matrix.rows * matrix.columns;
  while (key < end) {
    const uint64_t middle = key + (end - key + 1) / 2;
    if (count_below(matrix, middle) <= count) {
      key = middle;
    } else {
      end = middle - 1;
    }
  }
  uint64_t missing = count - count_below(matrix, key);
  for (uint64_t row = 0; row < matrix.rows; ++row) {
    uint64_t length = below(matrix, row, key);
    if (missing > 0 && below(matrix, row, key + 1) > length) {
      ++length;
      --missing;
    }
    before_[row + 1] = before_[row] + length;
  }
}

uint64_t EssentialRegion::row_of_item(uint64_t item) const {
  uint64_t row = 0;
  uint64_t end = rows();
  while (end - row > 1) {
    const uint64_t middle = row + (end - row) / 2;
    (items_before(middle) <= item ? row : end) = middle;
  }
  return row;
}

uint64_t essential_count(uint64_t elements, double share, uint32_t fragments) {
  const double wanted = std::ceil(share * static_cast<double>(elements));
  uint64_t count = elements;
  if (wanted < static_cast<double>(elements))
    count = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  return count + (elements - count) % fragments;
}

}  // namespace hoist::tensors
