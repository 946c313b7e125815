// How packed matrices are asked of the CUDA plug-in. Addresses are the device's.
#pragma once

#include <cstdint>

#include "tensors/packed/epilogue.h"
#include "tensors/packed/layout.h"

namespace hoist::tensors::packed {

struct PlainJob {
  const uint16_t* weights;
  uint64_t row_stride;
  uint32_t rows;
  uint32_t columns;
};

struct MatrixJob {
  void* tiles;
  uint32_t* factors;
  uint32_t* row_escapes;
  Escape* escapes;
  uint32_t rows;
  uint32_t columns;
  uint32_t escape_count;
};

struct ProductJob {
  const uint16_t* x;
  uint64_t x_stride;
  uint16_t* y;
  uint64_t y_stride;
  const uint16_t* bias;  // null: none
  uint32_t count;        // rows of x
  Activation activation;
};

// What a plan finds out about all rows.
struct PlanTotals {
  uint64_t escapes;
  uint32_t most_in_row;
};

}  // namespace hoist::tensors::packed
