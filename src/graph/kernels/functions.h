// Functions of programs that the IR has not as such, of values of one type.
#pragma once

#include <initializer_list>

#include "graph/kernels/writer.h"

namespace hoist::graph::kernels {

class Functions {
 public:
  Functions(KernelWriter& writer, ir::Scalar type)
      : writer_(writer), make_(writer.make), type_(type) {}

  Value one() { return constant(1); }
  Value zero() { return constant(0); }
  Value constant(double value);
  Value call(ir::Builtin builtin, std::initializer_list<Value> arguments) {
    return make_.builtin(builtin, {arguments.begin(), arguments.size()}).value();
  }
  // Booleans in their order, too.
  Value compare(ir::Comparison comparison, Value a, Value b);
  Value is_nan(Value a) { return make_.compare(ir::Comparison::not_equal, a, a).value(); }

  Value sigmoid(Value x);
  // e^x - 1 and ln(1 + x), precise near 0.
  Value expm1(Value x);
  Value log1p(Value x);
  // -1, 0 or 1, NaN for NaN; integers have signs, too.
  Value sign(Value x);
  // Minimum or maximum: NaN where either is one; the IR's own operator takes the number.
  Value extreme(ir::BinaryOperator op, Value a, Value b);
  // The magnitude of one number with the sign of another one, both floats.
  Value with_sign(Value magnitude, Value of);
  // Towards minus infinity, as Python's; of integers by 0: 0.
  Value floor_divide(Value a, Value b);
  Value remainder(Value a, Value b);
  // The following are of integers. A power wraps; with a negative exponent only 1 and -1 are not 0.
  Value integer_power(Value a, Value b);
  // By what is not from 0 to 63: 0, or copies of the sign.
  Value shifted(ir::BinaryOperator op, Value a, Value b);

 private:
  Value binary(ir::BinaryOperator op, Value a, Value b) { return writer_.binary(op, a, b); }
  Value is_infinite(Value x);
  // That of C's fmod, which is exact.
  Value float_remainder(Value a, Value b);
  Value float_floor_divide(Value a, Value b);
  Value choose(Value condition, Value yes, Value no) { return writer_.select(condition, yes, no); }
  // Whether a remainder has the other sign than the divisor.
  Value is_across(Value rest, Value b);

  KernelWriter& writer_;
  ir::Expressions& make_;
  const ir::Scalar type_;
};

}  // namespace hoist::graph::kernels
