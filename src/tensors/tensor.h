// Tensors as their users hold them: element type, shape of any rank, and bytes, row-major and
// little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "array/convert.h"
#include "array/dtype.h"

namespace hoist::tensors {

using array::byte_count;
using array::DType;
using array::DTypeProperties;
using array::element_count;
using array::find_dtype;
using array::from_f32;
using array::properties;
using array::Shape;
using array::to_f32;

// The matrix that transforms see: rank 0 and 1 are one row, higher ranks keep their first dimension
// as rows.
struct MatrixShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
};
MatrixShape matrix_shape(std::span<const uint64_t> shape);

struct TensorView {
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  // exactly element_count(shape) elements, any alignment
};

}  // namespace hoist::tensors
