// The operators and functions of the kernel IR, each with its exact meaning. The interpreter, C++
// and CUDA agree bit for bit wherever a result is exact; only the bits of a NaN are not defined.
//
// Floating point follows IEEE 754, to nearest even, with subnormals; a product and a sum are never
// fused unless fma says so. f16 and bf16 are computed in f32, and every result is rounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/type.h"

namespace hoist::ir {

enum class UnaryOperator : uint8_t {
  negate,  // integers wrap
  invert,  // every bit of an integer; `not` of a bool
};

// Both sides have one type, which is the result's; a shift's amount may be of any integer type.
enum class BinaryOperator : uint8_t {
  add,        // integers wrap
  subtract,   //
  multiply,   //
  divide,     // integers: towards zero; x / 0 = 0, least / -1 = least
  remainder,  // of that division: x % 0 = x, least % -1 = 0. Integers alone
  minimum,    // floats: of a number and a NaN the number; -0 is less than 0
  maximum,    //
  bit_and,    // bool: the right side is evaluated only where the left one does not decide
  bit_or,     //
  bit_xor,
  shift_left,    // by the width or more, or by a negative amount: 0
  shift_right,   // likewise; signed: copies of the sign
  rotate_left,   // of the value's bits, by the amount modulo the width
  rotate_right,  //
};

// Both sides have one type; the result is bool. bool has equal and not_equal alone. Every
// comparison with a NaN is false, but not_equal is true.
enum class Comparison : uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

// Arguments and result have one type unless said.
enum class Builtin : uint8_t {
  // Exact.
  absolute,  // of the least integer: itself
  square_root,
  fused_multiply_add,  // a * b + c, rounded once (f16, bf16: in f32, and again)
  floor,
  ceiling,
  truncate,
  round,             // to the nearest integer, ties to even
  population_count,  // integers; the result is the argument's type, as of the next two
  leading_zeros,     // of 0: the width
  trailing_zeros,    // of 0: the width
  multiply_high,     // the upper half of the product of integers
  is_nan,            // bool
  // Floats, within 4 units in the last place of f32 and f64 where the result is not subnormal.
  reciprocal_square_root,
  exp,
  exp2,
  log,
  log2,
  log10,
  sin,
  cos,
  tan,
  tanh,
  erf,
  power,  // within 16
};
inline constexpr int kBuiltins = 24;

// Where a thread is. All are i32; `dimension` is 0 (x), 1 (y) or 2 (z).
enum class Id : uint8_t {
  thread,  // block * block_size + local; a launch has at most 2^31 - 1 threads in a dimension
  block,
  local,       // in its block
  block_size,  // threads of a block
  grid_size,   // blocks
  lane,        // the thread's place in its warp of 32: the block's threads in order, x first
};

enum class AtomicOperator : uint8_t {
  add,  // 32- and 64-bit integers, f32, f64; the rest: 32- and 64-bit integers
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_exchange,  // stores where the element equals `comparand`
};

enum class ShuffleKind : uint8_t {
  index,  // the value of lane `amount`
  up,     // of lane - amount
  down,   // of lane + amount
  exclusive_or,
};

// Integers, f32, f64 for the first three; integers for the bits.
enum class ReduceOperator : uint8_t { add, minimum, maximum, bit_and, bit_or, bit_xor };

// Words as IR text prints them: "add" is "+", "square_root" is "sqrt".
std::string_view name(UnaryOperator op);
std::string_view name(BinaryOperator op);
std::string_view name(Comparison comparison);
std::string_view name(Builtin builtin);
std::string_view name(Id id);
std::string_view name(AtomicOperator op);
std::string_view name(ShuffleKind kind);
std::string_view name(ReduceOperator op);

std::optional<Builtin> find_builtin(std::string_view name);
int arity(Builtin builtin);
// Whether all targets give the same bits.
bool is_exact(Builtin builtin);
// Whether the function takes that type.
bool takes(Builtin builtin, Scalar scalar);

// The binary operator that a reduction applies.
BinaryOperator binary_operator(ReduceOperator op);

}  // namespace hoist::ir
