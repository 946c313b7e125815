// The primitive operations of programs: the one table of them.
//
// Element-wise operations broadcast their inputs by NumPy's rules. Views say only where elements
// lie; they cost nothing unless their result must be copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hoist::graph::program {

enum class Op : uint8_t {
  input,
  constant,
  // One array:
  copy,
  negate,
  absolute,
  exp,
  log,
  sqrt,
  rsqrt,  // 1 / sqrt(x), both rounded
  tanh,
  sigmoid,
  erf,
  exp2,
  expm1,
  log1p,
  log2,
  log10,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  floor,
  ceil,
  trunc,
  round,    // to the nearest even number
  sign,     // NaN for NaN, +0 for zeros
  relu,     // NaN for NaN, -0 for -0
  to_bool,  // x != 0
  cast,     // to the node's type
  bitwise_invert,
  // Two:
  add,
  subtract,
  multiply,
  divide,
  minimum,  // IEEE 754-2019: NaN where either is one, -0 < +0
  maximum,
  copysign,
  hypot,
  atan2,         // of libm
  power,         // of libm
  floor_divide,  // as Python's; of integers by 0: 0
  remainder,     // with the sign of the divisor; of integers by 0: 0
  bitwise_and,   // and the next two: of integers and booleans
  bitwise_or,
  bitwise_xor,
  left_shift,   // of integers; by what is not from 0 to 63: 0
  right_shift,  // keeps the sign
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  // Three: c ? a : b
  where,
  // Over axes that are kept with length 1.
  sum,  // pairwise, from +0 on
  mean,
  product,  // in the order of sums, from 1 on
  reduce_minimum,
  reduce_maximum,
  // The first place along one axis; NaN is the extreme. i64.
  argmin,
  argmax,
  // One axis: sums of what lies up to each place, one after the other.
  cumulative_sum,
  // Takes elements of the first input along an axis, at the places that the second one has.
  take_along,
  // Views.
  reshape,
  permute,
  broadcast,
  slice,
  // Others.
  matmul,
  concatenate,
};
inline constexpr size_t kOps = static_cast<size_t>(Op::concatenate) + 1;

enum class OpKind : uint8_t { leaf, elementwise, reduction, scan, take, view, matmul, concatenate };

struct OpProperties {
  std::string_view name;  // of Python's array API
  OpKind kind;
  int inputs;  // -1: any number
  bool is_commutative;
};

const OpProperties& properties(Op op);

inline bool is_elementwise(Op op) { return properties(op).kind == OpKind::elementwise; }
inline bool is_reduction(Op op) { return properties(op).kind == OpKind::reduction; }
// What gives a place along an axis.
inline bool is_place(Op op) { return op == Op::argmin || op == Op::argmax; }
inline bool is_view(Op op) { return properties(op).kind == OpKind::view; }
inline bool is_leaf(Op op) { return properties(op).kind == OpKind::leaf; }
// What a report counts: all but leaves and views.
inline bool is_primitive(Op op) { return !is_leaf(op) && !is_view(op); }
inline bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

}  // namespace hoist::graph::program
