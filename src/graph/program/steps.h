// What fused kernels are made of: one element-wise operation over a short stretch of memory, or a
// reduction of one; precompiled for each instruction set.
//
//   const StepTable& table = steps();
//   table.step(Op::add, kScalarB)(x, &bias, nullptr, out, n);
//
// An output may be one of the inputs; it overlaps none otherwise. The same element gives the same
// result at any place of a stretch.
//
// Results, with u = 2^-24 and e the exact result:
//   add, subtract, multiply, divide, sqrt   correctly rounded
//   rsqrt                                   sqrt, then division, both correctly rounded
//   exp, log, erf, tanh, sigmoid            error <= 6 u |e|; below 2^-126, 2^-149 (sigmoid:
//                                           2^-126)
//   exp2, expm1, log1p, log2                error <= 6 u |e|; below 2^-126, 2^-149; log2 and exp2
//                                           exact where the result can be
//   sin, cos, tan                           error <= 6 u |e| for all angles; from 2^20 on libm's
//   log10, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, hypot
//                                           error <= 1.01 u |e|: by doubles
//   power, atan2                            those of libm's powf and atan2f
// All others are exact.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "graph/program/types.h"

namespace hoist::graph::program {

// Inputs that the operation lacks are not read. All are in lanes (types.h); those of StepTable are
// f32.
using Step = void (*)(const void* a, const void* b, const void* c, void* out, size_t n);

// By which inputs are one number.
using StepRow = std::array<Step, 8>;

// Which inputs are one number for the whole stretch.
inline constexpr unsigned kScalarA = 1;
inline constexpr unsigned kScalarB = 2;
inline constexpr unsigned kScalarC = 4;

inline constexpr size_t kFew = 64;

struct StepTable {
  const char* name;                             // "avx512"
  bool fuses;                                   // functions round a product and a sum once
  std::array<std::array<Step, 8>, kOps> table;  // null where there is none
  float (*minimum)(const float* a, size_t n);   // n >= 1
  float (*maximum)(const float* a, size_t n);
  // n <= kFew: the same as sum() of graph/ops/ops.h, but faster.
  float (*sum_of_few)(const float* a, size_t n);
  // out[r] of the n >= 1 elements a[r + i * stride]: as the above, and sum() of graph/ops/ops.h.
  using ColumnReduction = void (*)(const float* a, ptrdiff_t stride, size_t n, size_t rows,
                                   float* out);
  ColumnReduction column_sums;
  ColumnReduction column_minima;
  ColumnReduction column_maxima;
  // c = a B for a row `a` of `depth` >= 1 elements, as multiply() of graph/ops/product.h has it;
  // faster where B does not fit the nearest cache. c overlaps neither.
  void (*row_product)(const float* a, const float* b, size_t b_row, float* c, size_t columns,
                      size_t depth);

  Step step(Op op, unsigned scalars) const { return table[static_cast<size_t>(op)][scalars]; }
};

// What this processor can run, widest vectors first.
std::span<const StepTable* const> runnable_steps();
const StepTable& steps();

// One number, as the tables reduce them.
float minimum_of(float a, float b);
float maximum_of(float a, float b);

// The step of any type: of inputs in these lanes (of `where` the choices, of comparisons and casts
// what is compared or cast), with a result of `dtype`.
Step step_for(Op op, Lanes lanes, DType dtype, unsigned scalars);

}  // namespace hoist::graph::program
