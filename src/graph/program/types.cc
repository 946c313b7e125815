#include "graph/program/types.h"

namespace hoist::graph::program {
namespace {

bool is_narrow_float(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// Operations whose results are of the type without being rounded: inputs, whole numbers near them,
// booleans.
bool keeps_types(Op op) {
  switch (op) {
    case Op::copy:
    case Op::cast:
    case Op::to_bool:
    case Op::relu:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
    case Op::sign:
    case Op::copysign:
    case Op::minimum:
    case Op::maximum:
    case Op::where:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::reduce_minimum:
    case Op::reduce_maximum:
    case Op::argmin:
    case Op::argmax:
    case Op::take_along:
      return true;
    default:
      return is_comparison(op);
  }
}

}  // namespace

bool is_program_type(DType dtype) {
  return dtype == DType::boolean || is_float(dtype) || is_integer(dtype);
}

bool is_float(DType dtype) {
  return is_narrow_float(dtype) || dtype == DType::f32 || dtype == DType::f64;
}

bool is_integer(DType dtype) {
  return is_unsigned(dtype) || dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 ||
         dtype == DType::i64;
}

bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64;
}

bool takes(Op op, DType dtype) {
  switch (op) {
    case Op::copy:
    case Op::cast:
    case Op::to_bool:
    case Op::where:
    case Op::argmin:
    case Op::argmax:
    case Op::take_along:
      return true;
    case Op::negate:
    case Op::absolute:
    case Op::relu:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
    case Op::sign:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::minimum:
    case Op::maximum:
    case Op::power:
    case Op::floor_divide:
    case Op::remainder:
    case Op::sum:
    case Op::mean:
    case Op::product:
    case Op::reduce_minimum:
    case Op::reduce_maximum:
    case Op::cumulative_sum:
    case Op::matmul:
      return is_float(dtype) || is_integer(dtype);
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::bitwise_invert:
      return is_integer(dtype) || dtype == DType::boolean;
    case Op::left_shift:
    case Op::right_shift:
      return is_integer(dtype);
    default:
      return is_comparison(op) || is_float(dtype);
  }
}

const char* taken_by(Op op) {
  if (!takes(op, DType::i64)) return "floats";
  return takes(op, DType::f32) ? "numbers" : "integers";
}

DType computed_in(Op op, DType dtype) {
  if (keeps_types(op)) return dtype;
  const bool changes_sign_alone = op == Op::negate || op == Op::absolute;
  if (is_narrow_float(dtype)) return changes_sign_alone ? dtype : DType::f32;
  if (!is_integer(dtype)) return dtype;
  if (op == Op::mean) return float_for(dtype);
  if (dtype == DType::u64) return dtype;
  const bool adds = is_reduction(op) || op == Op::cumulative_sum;
  return adds && is_unsigned(dtype) ? DType::u64 : DType::i64;
}

DType float_for(DType dtype) {
  if (is_float(dtype)) return dtype;
  return dtype == DType::i64 || dtype == DType::u64 ? DType::f64 : DType::f32;
}

bool is_free_cast(DType from, DType to) {
  if (to == DType::f32) return lanes_of(from) == Lanes::f32;
  if (to == DType::i64) return lanes_of(from) == Lanes::i64;
  return to == DType::u64 && is_unsigned(from);
}

}  // namespace hoist::graph::program
