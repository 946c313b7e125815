#include "graph/kernels/operations.h"

#include <algorithm>
#include <array>

#include "graph/kernels/conversion.h"

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Comparison;
using ir::Scalar;
using ir::UnaryOperator;
using program::Op;

namespace {

class Operation {
 public:
  Operation(KernelWriter& writer, Scalar type) : writer_(writer), make_(writer.make), type_(type) {}

  Value one() { return make_.real(type_, 1.0); }
  Value zero() { return constant(0); }
  Value constant(double value) {
    return ir::is_float(type_) ? make_.real(type_, value)
                               : make_.integer(type_, static_cast<int64_t>(value));
  }
  Value call(Builtin builtin, std::initializer_list<Value> arguments) {
    return make_.builtin(builtin, {arguments.begin(), arguments.size()}).value();
  }
  Value compare(Comparison comparison, Value a, Value b) {
    if (a->type.scalar == Scalar::boolean) {  // in their order, which the IR has not
      a = writer_.cast(Scalar::u8, a);
      b = writer_.cast(Scalar::u8, b);
    }
    return make_.compare(comparison, a, b).value();
  }
  Value is_nan(Value a) { return make_.compare(Comparison::not_equal, a, a).value(); }

  // The sigmoid of -|x| is e / (1 + e), that of |x| is 1 / (1 + e), with e = exp(-|x|) <= 1.
  Value sigmoid(Value x) {
    const Value e = writer_.let(call(
        Builtin::exp, {make_.unary(UnaryOperator::negate, call(Builtin::absolute, {x})).value()}));
    const Value above = writer_.binary(BinaryOperator::add, one(), e);
    const Value top = writer_.select(compare(Comparison::less, x, zero()), e, one());
    return writer_.binary(BinaryOperator::divide, top, above);
  }

  // Wraps. With a negative exponent only 1 and -1 are not 0.
  Value integer_power(Value a, Value b) {
    const auto of_u64 = [&](int64_t value) { return make_.integer(Scalar::u64, value); };
    const Value result = writer_.variable(of_u64(1));
    const Value factor = writer_.variable(writer_.cast(Scalar::u64, a));
    const Value left = writer_.variable(writer_.cast(Scalar::u64, b));
    writer_.begin_while(compare(Comparison::not_equal, left, of_u64(0)));
    const Value is_odd = compare(
        Comparison::not_equal, writer_.binary(BinaryOperator::bit_and, left, of_u64(1)), of_u64(0));
    writer_.set(
        result,
        writer_.select(is_odd, writer_.binary(BinaryOperator::multiply, result, factor), result));
    writer_.set(factor, writer_.binary(BinaryOperator::multiply, factor, factor));
    writer_.set(left, writer_.binary(BinaryOperator::shift_right, left, of_u64(1)));
    writer_.end();
    const Value power = writer_.cast(type_, result);
    if (!ir::is_signed(type_)) return power;
    const Value is_even =
        compare(Comparison::equal, writer_.binary(BinaryOperator::bit_and, b, constant(1)), zero());
    const Value of_minus_one = writer_.select(is_even, constant(1), constant(-1));
    const Value inverse = writer_.select(
        compare(Comparison::equal, a, constant(1)), constant(1),
        writer_.select(compare(Comparison::equal, a, constant(-1)), of_minus_one, zero()));
    return writer_.select(compare(Comparison::less, b, zero()), inverse, power);
  }

  // NaN where either is one; the IR's own operator takes the number.
  Value extreme(BinaryOperator op, Value a, Value b) {
    if (a->type.scalar == Scalar::boolean) {
      return writer_.binary(
          op == BinaryOperator::minimum ? BinaryOperator::bit_and : BinaryOperator::bit_or, a, b);
    }
    const Value found = writer_.binary(op, a, b);
    if (!ir::is_float(type_)) return found;
    const Value has_nan = writer_.binary(BinaryOperator::bit_or, is_nan(a), is_nan(b));
    return writer_.select(has_nan, writer_.binary(BinaryOperator::add, a, b), found);
  }

 private:
  KernelWriter& writer_;
  ir::Expressions& make_;
  const Scalar type_;
};

// By their order in Op, from equal on.
constexpr std::array kComparisons = {Comparison::equal,   Comparison::not_equal,
                                     Comparison::less,    Comparison::less_equal,
                                     Comparison::greater, Comparison::greater_equal};
Comparison comparison_of(Op op) {
  return kComparisons[static_cast<size_t>(op) - static_cast<size_t>(Op::equal)];
}

// The types that a node's inputs are computed with as.
Scalar operand_type(const Graph& graph, const Node& node, std::span<const Value> inputs) {
  if (node.op == Op::cast || node.op == Op::to_bool) return inputs[0]->type.scalar;
  if (!program::is_comparison(node.op)) return *scalar_of(node.dtype);
  const Scalar first = inputs[0]->type.scalar;
  if (first == inputs[1]->type.scalar) return first;
  constexpr std::array kLanes = {Scalar::f32, Scalar::f64, Scalar::i64, Scalar::u64};
  return kLanes[static_cast<size_t>(program::step_lanes(graph, node))];
}

}  // namespace

std::optional<Scalar> scalar_of(DType dtype) { return ir::scalar_of(dtype); }

bool can_compute(const Graph& graph, const Node& node) {
  return node.op <= Op::where && program::is_elementwise(node.op) &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](Id id) { return scalar_of(graph[id].dtype).has_value(); });
}

Value apply(KernelWriter& writer, const Graph& graph, const Node& node, std::vector<Value> inputs) {
  const Scalar operand = operand_type(graph, node, inputs);
  for (size_t i = node.op == Op::where ? 1 : 0; i < inputs.size(); ++i) {
    inputs[i] = writer.cast(operand, inputs[i]);
  }
  Operation make(writer, operand);
  const Value a = inputs[0];
  const Value b = inputs.size() > 1 ? inputs[1] : nullptr;
  switch (node.op) {
    case Op::copy:
      return a;
    case Op::negate:
      return writer.make.unary(UnaryOperator::negate, a).value();
    case Op::absolute:
      return make.call(Builtin::absolute, {a});
    case Op::exp:
      return make.call(Builtin::exp, {a});
    case Op::log:
      return make.call(Builtin::log, {a});
    case Op::sqrt:
      return make.call(Builtin::square_root, {a});
    case Op::rsqrt:
      return writer.binary(BinaryOperator::divide, make.one(),
                           make.call(Builtin::square_root, {a}));
    case Op::tanh:
      return make.call(Builtin::tanh, {a});
    case Op::sigmoid:
      return make.sigmoid(a);
    case Op::erf:
      return make.call(Builtin::erf, {a});
    case Op::relu:
      return writer.select(make.compare(Comparison::less, a, make.zero()), make.zero(), a);
    case Op::to_bool:
      return converted(writer, Scalar::boolean, a);
    case Op::cast:
      return converted(writer, *scalar_of(node.dtype), a);
    case Op::add:
      return writer.binary(BinaryOperator::add, a, b);
    case Op::subtract:
      return writer.binary(BinaryOperator::subtract, a, b);
    case Op::multiply:
      return writer.binary(BinaryOperator::multiply, a, b);
    case Op::divide:
      return writer.binary(BinaryOperator::divide, a, b);
    case Op::minimum:
      return make.extreme(BinaryOperator::minimum, a, b);
    case Op::maximum:
      return make.extreme(BinaryOperator::maximum, a, b);
    case Op::power:
      return ir::is_float(operand) ? make.call(Builtin::power, {a, b}) : make.integer_power(a, b);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      return make.compare(comparison_of(node.op), a, b);
    case Op::where:
      return writer.select(a, b, inputs[2]);
    default:
      return nullptr;
  }
}

Value number(KernelWriter& writer, const Node& node) {
  const Scalar type = *scalar_of(node.dtype);
  if (type == Scalar::boolean) return writer.make.boolean(node.number() != 0);
  return ir::is_float(type) ? writer.make.real(type, node.number())
                            : writer.make.integer(type, node.values->i64()[0]);
}

std::optional<Accumulation> Accumulation::of(Op op, DType dtype) {
  const std::optional<Scalar> from = scalar_of(dtype);
  if (!from) return {};
  Accumulation made;
  if (op == Op::sum) {
    made.type_ = *from == Scalar::f64                               ? Scalar::f64
                 : ir::is_float(*from)                              ? Scalar::f32
                 : ir::is_signed(*from) || *from == Scalar::boolean ? Scalar::i64
                                                                    : Scalar::u64;
    return made;
  }
  if (op != Op::reduce_minimum && op != Op::reduce_maximum) return {};
  made.op_ = op == Op::reduce_minimum ? ir::ReduceOperator::minimum : ir::ReduceOperator::maximum;
  made.is_ordered_float_ = ir::is_float(*from);
  if (made.is_ordered_float_) {
    made.type_ = *from == Scalar::f64 ? Scalar::i64 : Scalar::i32;
  } else if (ir::bytes(*from) < 4) {
    made.type_ = Scalar::i32;
  } else {
    made.type_ = *from;
  }
  return made;
}

Value Accumulation::start(KernelWriter& writer) const {
  if (op_ == ir::ReduceOperator::add) {
    return ir::is_float(type_) ? writer.make.real(type_, 0.0) : writer.make.integer(type_, 0);
  }
  const uint64_t ones = ir::mask(type_);
  const uint64_t largest = ir::is_signed(type_) ? ones >> 1 : ones;
  // What loses to all others.
  const bool is_minimum = op_ == ir::ReduceOperator::minimum;
  return writer.make.constant(type_, is_minimum ? largest : ~largest & ones);
}

// The bits of a float as an integer of the same order: those of a negative one are turned round.
Value Accumulation::encoded(KernelWriter& writer, Value value) const {
  if (!is_ordered_float_) return writer.cast(type_, value);
  const Scalar real = type_ == Scalar::i64 ? Scalar::f64 : Scalar::f32;
  const Value wide = writer.let(writer.cast(real, value));
  const Value bits = writer.let(writer.make.bitcast(type_, wide).value());
  const Value sign = writer.binary(BinaryOperator::shift_right, bits,
                                   writer.make.integer(Scalar::i32, ir::bits(type_) - 1));
  const Value low = writer.make.constant(type_, ir::mask(type_) >> 1);
  const Value key = writer.binary(BinaryOperator::bit_xor, bits,
                                  writer.binary(BinaryOperator::bit_and, sign, low));
  // The keys of NaNs that lie beyond all others'.
  const bool is_minimum = op_ == ir::ReduceOperator::minimum;
  const Value nan =
      writer.make.constant(type_, is_minimum ? (ir::mask(type_) >> 1) + 1 : ir::mask(type_) >> 1);
  const Value is_nan = writer.make.compare(Comparison::not_equal, wide, wide).value();
  return writer.let(writer.select(is_nan, nan, key));
}

Value Accumulation::decoded(KernelWriter& writer, Value total, Scalar type) const {
  if (!is_ordered_float_) return converted(writer, type, total);
  const Value key = writer.let(total);
  const Value sign = writer.binary(BinaryOperator::shift_right, key,
                                   writer.make.integer(Scalar::i32, ir::bits(type_) - 1));
  const Value low = writer.make.constant(type_, ir::mask(type_) >> 1);
  const Value bits = writer.binary(BinaryOperator::bit_xor, key,
                                   writer.binary(BinaryOperator::bit_and, sign, low));
  const Scalar real = type_ == Scalar::i64 ? Scalar::f64 : Scalar::f32;
  return writer.cast(type, writer.make.bitcast(real, bits).value());
}

}  // namespace hoist::graph::kernels
