// Orthonormal cosine transforms of one call (codec/dct.h, whose plans serve many), in place.
//
//   Status status = dct_2d(values, {rows, columns});     // row-major
//   status = idct_2d(values, {rows, columns});           // back again
//
// `invalid_argument`: no values, a side above 2^27, or a size that is not rows * columns;
// `exhausted`: no memory. Results do not depend on the pool.
#pragma once

#include <span>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// A matrix of one row or one column is a sequence.
Status dct_2d(std::span<float> matrix, MatrixShape shape, ThreadPool* pool = nullptr);
Status idct_2d(std::span<float> matrix, MatrixShape shape, ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
