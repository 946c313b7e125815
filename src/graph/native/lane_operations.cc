#include "graph/native/lane_operations.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "graph/kernels/conversion.h"
#include "graph/kernels/functions.h"
#include "graph/native/lane_functions.h"

namespace hoist::graph::native {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Comparison;
using ir::Scalar;
using ir::UnaryOperator;
using kernels::Functions;

namespace {

// By their order in Op, from equal on.
constexpr std::array kComparisons = {Comparison::equal,   Comparison::not_equal,
                                     Comparison::less,    Comparison::less_equal,
                                     Comparison::greater, Comparison::greater_equal};

bool is_real(Lanes lanes) { return lanes == Lanes::f32 || lanes == Lanes::f64; }

class Operation {
 public:
  Operation(KernelWriter& writer, bool fuses, Lanes lanes)
      : writer_(writer), make_(writer, scalar_of(lanes)), fuses_(fuses), lanes_(lanes) {}

  Value of(Op op, DType result, const std::vector<Value>& inputs) {
    const Value a = inputs[0];
    const Value b = inputs.size() > 1 ? inputs[1] : a;
    if (op == Op::cast || op == Op::to_bool) {
      return cast(a, op == Op::to_bool ? DType::boolean : result);
    }
    if (program::is_comparison(op)) {
      const size_t at = static_cast<size_t>(op) - static_cast<size_t>(Op::equal);
      return truth(make_.compare(kComparisons[at], a, b));
    }
    if (op == Op::where) return writer_.select(is_true(a), b, inputs[2]);
    if (lanes_ == Lanes::f32 && is_lane_function(op)) {
      return LaneFunctions(writer_, fuses_).of(op, a);
    }
    return inputs.size() == 1 ? unary(op, a) : binary(op, a, b);
  }

 private:
  Value unary(Op op, Value a) {
    switch (op) {
      case Op::negate:
        return writer_.make.unary(UnaryOperator::negate, a).value();
      case Op::absolute:
        return lanes_ == Lanes::u64 ? a : make_.call(Builtin::absolute, {a});
      case Op::relu:
        return writer_.select(make_.compare(Comparison::less, a, make_.zero()), make_.zero(), a);
      case Op::sign:
        return make_.sign(a);
      case Op::floor:
        return whole(Builtin::floor, a);
      case Op::ceil:
        return whole(Builtin::ceiling, a);
      case Op::trunc:
        return whole(Builtin::truncate, a);
      case Op::round:
        return whole(Builtin::round, a);
      case Op::sqrt:
        return make_.call(Builtin::square_root, {a});
      case Op::rsqrt:
        return writer_.binary(BinaryOperator::divide, make_.one(),
                              make_.call(Builtin::square_root, {a}));
      case Op::bitwise_invert:
        return lanes_ == Lanes::f32 ? truth(make_.compare(Comparison::equal, a, make_.zero()))
                                    : writer_.make.unary(UnaryOperator::invert, a).value();
      default:  // copy
        return a;
    }
  }

  Value binary(Op op, Value a, Value b) {
    switch (op) {
      case Op::add:
        return writer_.binary(BinaryOperator::add, a, b);
      case Op::subtract:
        return writer_.binary(BinaryOperator::subtract, a, b);
      case Op::multiply:
        return writer_.binary(BinaryOperator::multiply, a, b);
      case Op::divide:
        return writer_.binary(BinaryOperator::divide, a, b);
      case Op::minimum:
      case Op::maximum:
        return extreme(op == Op::minimum, a, b);
      case Op::left_shift:
        return make_.shifted(BinaryOperator::shift_left, a, b);
      case Op::right_shift:
        return make_.shifted(BinaryOperator::shift_right, a, b);
      default:
        return logic(op == Op::bitwise_and  ? BinaryOperator::bit_and
                     : op == Op::bitwise_or ? BinaryOperator::bit_or
                                            : BinaryOperator::bit_xor,
                     a, b);
    }
  }

  // NaN where either is one; -0 is less than +0.
  Value extreme(bool is_minimum, Value a, Value b) {
    if (!is_real(lanes_)) {
      return make_.extreme(is_minimum ? BinaryOperator::minimum : BinaryOperator::maximum, a, b);
    }
    if (is_number(a)) std::swap(a, b);
    if (is_number(b)) return bounded(is_minimum, a, b);
    const Comparison first = is_minimum ? Comparison::less : Comparison::greater;
    const Value one = bits(writer_.select(make_.compare(first, a, b), a, b));
    const Value other = bits(writer_.select(make_.compare(first, b, a), b, a));
    // Equal numbers differ in the sign of 0 alone.
    const BinaryOperator both = is_minimum ? BinaryOperator::bit_or : BinaryOperator::bit_and;
    const Value number = writer_.let(
        writer_.make.bitcast(scalar_of(lanes_), writer_.binary(both, one, other)).value());
    const Value sum = writer_.let(writer_.binary(BinaryOperator::add, a, b));
    return writer_.select(make_.is_nan(a), sum, writer_.select(make_.is_nan(b), sum, number));
  }
  // By a constant: one comparison does, in which zeros of both signs are treated as they order.
  Value bounded(bool is_minimum, Value x, Value bound) {
    const bool is_negative = (bound->bits >> (lanes_ == Lanes::f64 ? 63 : 31)) != 0;
    const bool is_strict = is_minimum ? !is_negative : is_negative;
    const Comparison beyond = is_minimum
                                  ? (is_strict ? Comparison::greater : Comparison::greater_equal)
                                  : (is_strict ? Comparison::less : Comparison::less_equal);
    return writer_.select(make_.compare(beyond, x, bound), bound, x);
  }
  // A constant that is no NaN.
  bool is_number(Value value) const {
    if (!value->is_constant()) return false;
    return lanes_ == Lanes::f64
               ? !std::isnan(std::bit_cast<double>(value->bits))
               : !std::isnan(std::bit_cast<float>(static_cast<uint32_t>(value->bits)));
  }
  Value bits(Value x) {
    return writer_.make.bitcast(lanes_ == Lanes::f64 ? Scalar::u64 : Scalar::u32, x).value();
  }

  // Booleans are numbers.
  Value logic(BinaryOperator op, Value a, Value b) {
    if (lanes_ != Lanes::f32) return writer_.binary(op, a, b);
    return truth(writer_.binary(op, is_true(a), is_true(b)));
  }
  Value is_true(Value a) {
    const Value zero = writer_.make.real(Scalar::f32, 0);
    return writer_.make.compare(Comparison::not_equal, a, zero).value();
  }
  Value truth(Value condition) {
    return writer_.select(condition, writer_.make.real(Scalar::f32, 1),
                          writer_.make.real(Scalar::f32, 0));
  }
  Value whole(Builtin builtin, Value a) { return is_real(lanes_) ? make_.call(builtin, {a}) : a; }
  Value cast(Value a, DType result) {
    if (result == DType::boolean) return truth(kernels::converted(writer_, Scalar::boolean, a));
    const Value narrow = kernels::converted(writer_, *ir::scalar_of(result), a);
    return writer_.cast(scalar_of(program::lanes_of(result)), narrow);
  }

  KernelWriter& writer_;
  Functions make_;
  const bool fuses_;
  const Lanes lanes_;
};

}  // namespace

Scalar scalar_of(Lanes lanes) {
  constexpr std::array kScalars = {Scalar::f32, Scalar::f64, Scalar::i64, Scalar::u64};
  return kScalars[static_cast<size_t>(lanes)];
}

bool can_compute(Op op, Lanes lanes, DType result) {
  if (!program::is_elementwise(op) || !ir::scalar_of(result)) return false;
  // The precompiled steps have instructions for it.
  if (op == Op::cast && result == DType::f16) return false;
  if (program::is_comparison(op) || (lanes == Lanes::f32 && is_lane_function(op))) return true;
  switch (op) {
    case Op::copy:
    case Op::cast:
    case Op::to_bool:
    case Op::negate:
    case Op::absolute:
    case Op::relu:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::minimum:
    case Op::maximum:
    case Op::where:
      return true;
    case Op::sqrt:
    case Op::rsqrt:
    case Op::divide:
      return is_real(lanes);
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::bitwise_invert:
      return lanes != Lanes::f64;
    case Op::left_shift:
    case Op::right_shift:
      return !is_real(lanes);
    default:
      return false;
  }
}

Value computed(KernelWriter& writer, bool fuses, Op op, Lanes lanes, DType result,
               std::vector<Value> inputs) {
  // Integers may come from lanes of the other kind: their bits count. A cast of a narrower type is
  // that of the lanes which it is in.
  const bool casts = op == Op::cast || op == Op::to_bool;
  const bool is_narrow = ir::bytes(inputs[0]->type.scalar) < ir::bytes(scalar_of(lanes));
  for (size_t i = op == Op::where ? 1 : 0; i < inputs.size() && !(casts && is_narrow); ++i) {
    inputs[i] = writer.cast(scalar_of(lanes), inputs[i]);
  }
  return Operation(writer, fuses, lanes).of(op, result, inputs);
}

}  // namespace hoist::graph::native
