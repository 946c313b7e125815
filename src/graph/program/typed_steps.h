// The steps of lanes other than f32, and casts: as steps.h has them for f32. Compiled for each
// instruction set; all of them give the same bits, but for products, exp, log, tanh and sigmoid.
//
// Results: of f64, add, subtract, multiply, divide, sqrt are correctly rounded, rsqrt is sqrt and a
// division. With u = 2^-53 and e the exact result, exp and log have an error <= 2 u |e|, tanh <= 5
// u |e|, sigmoid <= 4 u |e|; below 2^-1022, 2^-1074. Other functions are libm's. Integers wrap. A
// power of an integer to a negative one is 1 / x^n, truncated; that of 0 is 0.
#pragma once

#include <array>
#include <cstddef>

#include "graph/ops/product.h"
#include "graph/program/steps.h"

namespace hoist::graph::program {

struct TypedSteps {
  const char* name;
  using Row = StepRow;
  // By Lanes; of f32 what StepTable lacks.
  std::array<std::array<Row, kOps>, kLaneKinds> table;
  // By lanes and DType.
  std::array<std::array<std::array<Step, 2>, 16>, kLaneKinds> casts;
  // By DType: elements one behind the other as lanes, and back.
  using Move = void (*)(const void* from, size_t n, void* to);
  std::array<Move, 16> widened;
  std::array<Move, 16> narrowed;
  // n >= 1 elements; sums also of none. That of f64 adds as sum() of graph/ops/ops.h does.
  double (*sum_f64)(const double* a, size_t n);
  int64_t (*sum_i64)(const int64_t* a, size_t n);
  // The product of all elements, multiplied in the order in which sum() of graph/ops/ops.h adds. n
  // >= 1.
  float (*multiplied_f32)(const float* a, size_t n);
  double (*multiplied_f64)(const double* a, size_t n);
  uint64_t (*multiplied_u64)(const uint64_t* a, size_t n);
  // In any order the same. Those of u64 by their bits.
  double (*extreme_f64[2])(const double* a, size_t n);  // minimum, maximum
  int64_t (*extreme_i64[2])(const int64_t* a, size_t n);
  int64_t (*extreme_u64[2])(const int64_t* a, size_t n);
  // The first place of what is equal, or n; NaN is equal to NaN.
  size_t (*find_f32)(const float* a, size_t n, float value);
  size_t (*find_f64)(const double* a, size_t n, double value);
  size_t (*find_i64)(const int64_t* a, size_t n, int64_t value);
  // By lanes but f32: out[r] of the n >= 1 elements a[r + i * stride].
  using ColumnReduction = void (*)(const void* a, ptrdiff_t stride, size_t n, size_t rows,
                                   void* out);
  ColumnReduction column_sums[kLaneKinds];
  ColumnReduction column_minima[kLaneKinds];
  ColumnReduction column_maxima[kLaneKinds];
  // As multiply() of graph/ops/product.h; each element is summed in the order of depth.
  void (*product_f64)(const ProductShape& shape, const double* a, const double* b, double* c);
  void (*product_i64)(const ProductShape& shape, const int64_t* a, const int64_t* b, int64_t* c);
};

std::span<const TypedSteps* const> runnable_typed_steps();
const TypedSteps& typed_steps();

double minimum_of(double a, double b);
double maximum_of(double a, double b);

}  // namespace hoist::graph::program
