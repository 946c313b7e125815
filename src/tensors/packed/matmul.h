// Products with a packed matrix W: y = x Wᵀ + bias, as torch.nn.functional.linear gives them.
//
//   x      count rows of `columns` bf16 each
//   bias   `rows` bf16, or none
//   y      count rows of `rows` bf16
//
// Sums are f32, in an order that depends on the shape alone; the bias is added and the activation
// (tensors/packed/epilogue.h) taken in f32, and the result is rounded once.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "tensors/packed/epilogue.h"
#include "tensors/packed/matrix.h"

namespace hoist::tensors::packed {

struct Operands {
  const uint16_t* x = nullptr;
  uint64_t count = 0;
  uint64_t x_stride = 0;  // weights from one row of x to the next
  uint16_t* y = nullptr;
  uint64_t y_stride = 0;
  const uint16_t* bias = nullptr;  // null: none
  Activation activation = Activation::none;
};

// On the CPU, on all threads of the process's pool; memory is the host's, and the view is checked.
// `invalid_argument` for strides that are shorter than their rows.
Status matmul(const View& view, const Operands& operands);

// For whoever runs the product: what matmul() refuses.
Status check_operands(const Shape& shape, const Operands& operands);

}  // namespace hoist::tensors::packed
