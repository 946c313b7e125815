#include "graph/kernels/real_functions.h"

#include <limits>
#include <numbers>

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Comparison;
using ir::Scalar;
using program::Op;

namespace {

constexpr double kPi = std::numbers::pi;
// From here on what is added to a square is below its last place.
constexpr double kLarge = 1e8;

// All in f64.
class Reals {
 public:
  explicit Reals(KernelWriter& writer) : writer_(writer), functions_(writer, Scalar::f64) {}

  // W. Kahan's: what rounding 1 + x has lost is made good by a quotient.
  Value log1p(Value x) {
    const Value sum = let(plus(number(1), x));
    const Value rounded = let(minus(sum, number(1)));
    const Value mended = times(log(sum), divided(x, rounded));
    const Value is_plain =
        functions_.compare(Comparison::equal, sum, number(std::numeric_limits<double>::infinity()));
    const Value is_small = functions_.compare(Comparison::equal, rounded, number(0));
    return let(choose(is_small, x, choose(is_plain, sum, mended)));
  }

  Value sinh(Value x) {
    const Value half = let(exp(times(absolute(x), number(0.5))));
    const Value e = times(half, half);
    const Value small = divided(number(0.5), e);
    const Value far = minus(times(times(half, number(0.5)), half), small);
    return choose(is_below(absolute(x), 0.3), sinh_near_0(x), with_sign(far, x));
  }
  Value cosh(Value x) {
    const Value half = let(exp(times(absolute(x), number(0.5))));
    return plus(times(times(half, number(0.5)), half), divided(number(0.5), times(half, half)));
  }

  Value asinh(Value x) {
    const Value y = let(absolute(x));
    const Value square = times(y, y);
    const Value near =
        log1p(plus(y, divided(square, plus(number(1), sqrt(plus(number(1), square))))));
    return with_sign(choose(is_below(y, kLarge), near, plus(log(y), number(std::numbers::ln2))), x);
  }
  Value acosh(Value x) {
    const Value t = let(minus(x, number(1)));
    const Value near = log1p(plus(t, sqrt(plus(times(number(2), t), times(t, t)))));
    const Value inside = choose(is_below(x, kLarge), near, plus(log(x), number(std::numbers::ln2)));
    return choose(is_below(x, 1), number(std::numeric_limits<double>::quiet_NaN()), inside);
  }
  Value atanh(Value x) {
    const Value y = let(absolute(x));
    const Value log = log1p(divided(times(number(2), y), minus(number(1), y)));
    return with_sign(times(number(0.5), log), x);
  }

  // A number y near that of z <= 1 first; then atan z = y + atan((z - tan y) / (1 + z tan y)),
  // whose argument is below 0.006.
  Value atan(Value x) {
    const Value y = let(absolute(x));
    const Value is_large = let(functions_.compare(Comparison::greater, y, number(1)));
    const Value z = let(choose(is_large, divided(number(1), y), y));
    const Value guess =
        let(times(z, minus(number(0.97239411), times(number(0.19194795), times(z, z)))));
    const Value tangent = let(call(Builtin::tan, guess));
    const Value t = let(divided(minus(z, tangent), plus(number(1), times(z, tangent))));
    const Value square = let(times(t, t));
    const Value series =
        minus(t, times(times(t, square), minus(number(1.0 / 3), times(square, number(0.2)))));
    const Value angle = let(plus(guess, series));
    return let(with_sign(choose(is_large, minus(number(kPi / 2), angle), angle), x));
  }
  Value asin(Value x) {
    return atan(divided(x, sqrt(times(minus(number(1), x), plus(number(1), x)))));
  }
  Value acos(Value x) {
    return times(number(2), atan(sqrt(divided(minus(number(1), x), plus(number(1), x)))));
  }
  Value atan2(Value y, Value x) {
    const Value infinity = number(std::numeric_limits<double>::infinity());
    const Value up = let(absolute(y));
    const Value along = let(absolute(x));
    const auto equal = [&](Value a, Value b) {
      return functions_.compare(Comparison::equal, a, b);
    };
    const auto both = [&](Value a, Value b) {
      return writer_.binary(BinaryOperator::bit_and, a, b);
    };
    const Value quotient = choose(
        both(equal(up, infinity), equal(along, infinity)), number(1),
        choose(both(equal(up, number(0)), equal(along, number(0))), number(0), divided(up, along)));
    const Value angle = atan(let(quotient));
    const Value is_left = is_negative(x);
    return with_sign(choose(is_left, minus(number(kPi), angle), angle), y);
  }
  Value hypot(Value a, Value b) {
    const Value x = let(absolute(a));
    const Value y = let(absolute(b));
    const Value infinity = number(std::numeric_limits<double>::infinity());
    const Value most = let(writer_.binary(BinaryOperator::maximum, x, y));
    const Value least = writer_.binary(BinaryOperator::minimum, x, y);
    const Value ratio = let(divided(least, most));
    const Value length = times(most, sqrt(plus(number(1), times(ratio, ratio))));
    const Value is_nan =
        writer_.binary(BinaryOperator::bit_or, functions_.is_nan(x), functions_.is_nan(y));
    const Value inside = choose(is_nan, plus(x, y), length);
    const Value is_zero = functions_.compare(Comparison::equal, most, number(0));
    const Value is_infinite = functions_.compare(Comparison::equal, most, infinity);
    return choose(is_infinite, infinity, choose(both_numbers(is_zero, is_nan), number(0), inside));
  }

 private:
  Value number(double value) { return functions_.constant(value); }
  Value let(Value value) { return writer_.let(value); }
  Value plus(Value a, Value b) { return writer_.binary(BinaryOperator::add, a, b); }
  Value minus(Value a, Value b) { return writer_.binary(BinaryOperator::subtract, a, b); }
  Value times(Value a, Value b) { return writer_.binary(BinaryOperator::multiply, a, b); }
  Value divided(Value a, Value b) { return writer_.binary(BinaryOperator::divide, a, b); }
  Value call(Builtin builtin, Value x) { return functions_.call(builtin, {x}); }
  Value absolute(Value x) { return call(Builtin::absolute, x); }
  Value exp(Value x) { return let(call(Builtin::exp, x)); }
  Value log(Value x) { return call(Builtin::log, x); }
  Value sqrt(Value x) { return call(Builtin::square_root, x); }
  Value choose(Value condition, Value yes, Value no) { return writer_.select(condition, yes, no); }
  Value with_sign(Value magnitude, Value of) { return functions_.with_sign(magnitude, of); }
  Value is_below(Value x, double limit) {
    return functions_.compare(Comparison::less, x, number(limit));
  }
  Value is_negative(Value x) {
    const Value bits = writer_.make.bitcast(Scalar::i64, x).value();
    return writer_.make.compare(Comparison::less, bits, writer_.make.integer(Scalar::i64, 0))
        .value();
  }
  Value both_numbers(Value a, Value is_nan) {
    return writer_.binary(BinaryOperator::bit_and, a,
                          writer_.make.unary(ir::UnaryOperator::invert, is_nan).value());
  }
  // The series, for |x| < 0.3.
  Value sinh_near_0(Value given) {
    const Value x = let(given);
    const Value square = let(times(x, x));
    Value sum = number(1);
    for (const double divisor : {156.0, 110.0, 72.0, 42.0, 20.0, 6.0}) {
      sum = plus(number(1), times(divided(square, number(divisor)), sum));
    }
    return times(x, sum);
  }

  KernelWriter& writer_;
  Functions functions_;
};

}  // namespace

bool is_real_function(Op op) {
  switch (op) {
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::hypot:
    case Op::atan2:
      return true;
    default:
      return false;
  }
}

Value real_function(KernelWriter& writer, Op op, Value a, Value b) {
  const Scalar type = a->type.scalar;
  const Value x = writer.let(writer.cast(Scalar::f64, a));
  const Value y = b == nullptr ? nullptr : writer.let(writer.cast(Scalar::f64, b));
  Reals make(writer);
  const auto value = [&]() -> Value {
    switch (op) {
      case Op::asin:
        return make.asin(x);
      case Op::acos:
        return make.acos(x);
      case Op::atan:
        return make.atan(x);
      case Op::sinh:
        return make.sinh(x);
      case Op::cosh:
        return make.cosh(x);
      case Op::asinh:
        return make.asinh(x);
      case Op::acosh:
        return make.acosh(x);
      case Op::atanh:
        return make.atanh(x);
      case Op::hypot:
        return make.hypot(x, y);
      default:
        return make.atan2(x, y);
    }
  }();
  return writer.cast(type, value);
}

}  // namespace hoist::graph::kernels
