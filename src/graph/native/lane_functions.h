// Logarithms of f32 as the precompiled steps have them (graph/ops/functions-inl.h and
// graph/program/exponentials-inl.h), in the IR: operation by operation the same, so that the bits
// are the same. Other functions stay precompiled: C++ compilers make two instructions of a minimum
// that leaves a NaN alone, so that exp, tanh and the sigmoid are slower by a tenth to a fifth.
#pragma once

#include "graph/kernels/functions.h"
#include "graph/program/op.h"

namespace hoist::graph::native {

using kernels::KernelWriter;
using kernels::Value;

// Whether LaneFunctions has it.
bool is_lane_function(program::Op op);

class LaneFunctions {
 public:
  // `fuses`: a product and a sum are rounded once.
  LaneFunctions(KernelWriter& writer, bool fuses)
      : writer_(writer), make_(writer, ir::Scalar::f32), fuses_(fuses) {}

  Value of(program::Op op, Value x);

 private:
  struct Logarithm {
    Value n;
    Value f;
    Value tail;
  };

  Value log(Value x);
  Value log1p(Value x);
  Value log2(Value x);

  Logarithm logarithm(Value x);
  Value with_limits_of_log(Value x, Value result);
  // The coefficients from the highest power on.
  Value polynomial(Value x, std::initializer_list<float> coefficients);

  Value let(Value value) { return writer_.let(value); }
  Value number(float value) { return make_.constant(double{value}); }
  Value integer(int64_t value) { return writer_.make.integer(ir::Scalar::i32, value); }
  Value plus(Value a, Value b) { return writer_.binary(ir::BinaryOperator::add, a, b); }
  Value minus(Value a, Value b) { return writer_.binary(ir::BinaryOperator::subtract, a, b); }
  Value times(Value a, Value b) { return writer_.binary(ir::BinaryOperator::multiply, a, b); }
  Value over(Value a, Value b) { return writer_.binary(ir::BinaryOperator::divide, a, b); }
  Value negative(Value a) { return writer_.make.unary(ir::UnaryOperator::negate, a).value(); }
  // a b + c, and c - a b.
  Value times_plus(Value a, Value b, Value c);
  Value minus_times(Value a, Value b, Value c);
  Value choose(Value condition, Value yes, Value no) { return writer_.select(condition, yes, no); }
  Value is_less(Value a, Value b) { return make_.compare(ir::Comparison::less, a, b); }
  Value is_zero(Value a) { return make_.compare(ir::Comparison::equal, a, number(0)); }
  Value bits_of(Value x) { return writer_.make.bitcast(ir::Scalar::i32, x).value(); }
  Value of_bits(Value x) { return writer_.make.bitcast(ir::Scalar::f32, x).value(); }
  Value shifted_left(Value x) {
    return writer_.binary(ir::BinaryOperator::shift_left, x, integer(23));
  }
  Value shifted_right(Value x, int64_t by) {
    return writer_.binary(ir::BinaryOperator::shift_right, x, integer(by));
  }

  KernelWriter& writer_;
  kernels::Functions make_;
  const bool fuses_;
};

}  // namespace hoist::graph::native
