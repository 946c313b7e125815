#include "graph/kernels/conversion.h"

#include <array>

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Comparison;
using ir::Scalar;

namespace {

// The IR rounds to f16 and bf16 by way of f32. What f32 has not goes there as the odd one of its
// two neighbours: then the second rounding is that of the number itself.
class OddRounding {
 public:
  explicit OddRounding(KernelWriter& writer) : writer_(writer), make_(writer.make) {}

  Value of_f64(Value x) {
    const Value nearest = writer_.let(writer_.cast(Scalar::f32, x));
    const Value back = writer_.let(writer_.cast(Scalar::f64, nearest));
    const Value bits = writer_.let(make_.bitcast(Scalar::u32, nearest).value());
    // Towards zero where it was rounded away from it.
    const Value is_beyond =
        compare(Comparison::greater, call(Builtin::absolute, back), call(Builtin::absolute, x));
    const Value down = binary(BinaryOperator::subtract, bits, writer_.cast(Scalar::u32, is_beyond));
    const Value odd = binary(BinaryOperator::bit_or, down, make_.integer(Scalar::u32, 1));
    const Value is_kept = binary(BinaryOperator::bit_or, compare(Comparison::equal, back, x),
                                 compare(Comparison::not_equal, x, x));
    return writer_.select(is_kept, nearest, make_.bitcast(Scalar::f32, odd).value());
  }

  // 24 bits of it, the last one odd where any below is set, and a power of two.
  Value of_unsigned(Value x) {
    const Value zeros = call(Builtin::leading_zeros, x);
    const Value forty = make_.integer(Scalar::u64, 40);
    const Value shift = writer_.let(writer_.select(compare(Comparison::less, zeros, forty),
                                                   binary(BinaryOperator::subtract, forty, zeros),
                                                   make_.integer(Scalar::u64, 0)));
    const Value high = writer_.let(binary(BinaryOperator::shift_right, x, shift));
    const Value back = binary(BinaryOperator::shift_left, high, shift);
    const Value rest = writer_.cast(Scalar::u64, compare(Comparison::not_equal, back, x));
    const Value number = writer_.cast(Scalar::f32, binary(BinaryOperator::bit_or, high, rest));
    const Value exponent = binary(BinaryOperator::shift_left,
                                  binary(BinaryOperator::add, writer_.cast(Scalar::u32, shift),
                                         make_.integer(Scalar::u32, 127)),
                                  make_.integer(Scalar::u32, 23));
    return binary(BinaryOperator::multiply, number, make_.bitcast(Scalar::f32, exponent).value());
  }

  Value of_signed(Value given) {
    const Value x = writer_.let(writer_.cast(Scalar::i64, given));
    const Value is_negative = compare(Comparison::less, x, make_.integer(Scalar::i64, 0));
    const Value magnitude = writer_.let(writer_.cast(Scalar::u64, call(Builtin::absolute, x)));
    const Value number = writer_.let(of_unsigned(magnitude));
    return writer_.select(is_negative, make_.unary(ir::UnaryOperator::negate, number).value(),
                          number);
  }

 private:
  Value binary(BinaryOperator op, Value a, Value b) { return writer_.binary(op, a, b); }
  Value compare(Comparison comparison, Value a, Value b) {
    return make_.compare(comparison, a, b).value();
  }
  Value call(Builtin builtin, Value x) {
    const std::array arguments = {x};
    return make_.builtin(builtin, arguments).value();
  }

  KernelWriter& writer_;
  ir::Expressions& make_;
};

}  // namespace

Value converted(KernelWriter& writer, Scalar type, Value value) {
  const Scalar from = value->type.scalar;
  if (type == from) return value;
  if (type == Scalar::boolean) {
    const Value zero =
        ir::is_float(from) ? writer.make.real(from, 0.0) : writer.make.integer(from, 0);
    return writer.make.compare(Comparison::not_equal, value, zero).value();
  }
  const bool is_narrow = type == Scalar::f16 || type == Scalar::bf16;
  if (is_narrow && from == Scalar::f64) {
    return writer.cast(type, OddRounding(writer).of_f64(writer.let(value)));
  }
  // Other integers are whole in f32, or beyond what f16 has.
  if (type == Scalar::bf16 && ir::is_integer(from) && ir::bytes(from) >= 4) {
    OddRounding rounding(writer);
    return writer.cast(type,
                       ir::is_signed(from)
                           ? rounding.of_signed(value)
                           : rounding.of_unsigned(writer.let(writer.cast(Scalar::u64, value))));
  }
  return writer.cast(type, value);
}

}  // namespace hoist::graph::kernels
