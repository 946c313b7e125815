// Operations on arrays on the CPU, on the calling thread.
//
//   Status done = apply(Binary::add, a, b, out);           // array::View
//   apply(Binary::add, a, b, c, n);                        // f32, n elements
//
// An output may be one of the inputs or overlap them in any way: the result is as if the inputs had
// been copied first. Views have one shape and element type and no gaps; so far that type is f32,
// others are `unsupported`.
//
// Results, with u = 2^-24 and e the exact result:
// clang-format off
//   add, subtract, multiply, divide    correctly rounded
//   minimum, maximum, relu, clip       exact; NaN where an input is NaN
//   fmin, fmax, frelu, fclip           exact; a NaN loses to a number (frelu: to 0, fclip: to `low`)
//   sigmoid, tanh                      error <= 6 u |e|; sigmoid is 0 from -87.7 down
//   gelu_tanh, gelu_erf                error <= 4 u |x|
//   softmax                            error <= (32 + d) u e + 2^-126 for an input that is d less
//                                      than the largest; 0 from d = 87.7 on; NaN everywhere where
//                                      an input is
//   sum, dot, loss sums                error <= (22 + log2(n / 1024)) u times the sum of the absolute
//                                      terms, and 2 u of each term of a logarithm; sums are the same
//                                      for every instruction set
// clang-format on
#pragma once

#include <cstddef>

#include "array/view.h"
#include "base/result.h"
#include "graph/ops/kernels.h"

namespace hoist::graph {

Status apply(Binary operation, const array::View& a, const array::View& b, const array::View& out);
// softmax goes over all elements.
Status apply(Unary operation, const array::View& a, const array::View& out);
Status apply(Scalar operation, const array::View& a, double number, const array::View& out);
// min(max(x, low), high)
Status clip(const array::View& a, double low, double high, const array::View& out);
// Over all elements; 0 for none.
Result<double> sum(const array::View& a);
// `invalid_argument` for no elements.
Result<double> extreme(Extreme which, const array::View& a);

// The same for f32, without checks.
void apply(Binary operation, const float* a, const float* b, float* c, size_t n);
void apply(Unary operation, const float* a, float* c, size_t n);
void apply(Scalar operation, const float* a, float number, float* c, size_t n);
void clip(const float* a, float low, float high, float* c, size_t n);
void fclip(const float* a, float low, float high, float* c, size_t n);
float sum(const float* a, size_t n);
float extreme(Extreme which, const float* a, size_t n);
float loss_sum(LossSum which, const float* predictions, const float* targets, size_t n);

}  // namespace hoist::graph
