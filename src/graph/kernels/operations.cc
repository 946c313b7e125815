#include "graph/kernels/operations.h"

#include <algorithm>
#include <array>

#include "graph/kernels/conversion.h"
#include "graph/kernels/functions.h"
#include "graph/kernels/real_functions.h"

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Comparison;
using ir::Scalar;
using ir::UnaryOperator;
using program::Op;

namespace {

// By their order in Op, from equal on.
constexpr std::array kComparisons = {Comparison::equal,   Comparison::not_equal,
                                     Comparison::less,    Comparison::less_equal,
                                     Comparison::greater, Comparison::greater_equal};
Comparison comparison_of(Op op) {
  return kComparisons[static_cast<size_t>(op) - static_cast<size_t>(Op::equal)];
}

// What apply() has a case for.
constexpr std::array kKnown = {Op::copy,       Op::negate,
                               Op::absolute,   Op::exp,
                               Op::log,        Op::sqrt,
                               Op::rsqrt,      Op::tanh,
                               Op::sigmoid,    Op::erf,
                               Op::relu,       Op::to_bool,
                               Op::cast,       Op::bitwise_invert,
                               Op::add,        Op::subtract,
                               Op::multiply,   Op::divide,
                               Op::minimum,    Op::maximum,
                               Op::power,      Op::floor_divide,
                               Op::remainder,  Op::bitwise_and,
                               Op::bitwise_or, Op::bitwise_xor,
                               Op::left_shift, Op::right_shift,
                               Op::equal,      Op::not_equal,
                               Op::less,       Op::less_equal,
                               Op::greater,    Op::greater_equal,
                               Op::where,      Op::expm1,
                               Op::log1p,      Op::sign,
                               Op::copysign};

bool is_among(std::span<const Op> all, Op op) {
  return std::find(all.begin(), all.end(), op) != all.end();
}

// The function of the IR that has the operation's name.
std::optional<Builtin> builtin_of(Op op) {
  const auto found = ir::find_builtin(program::properties(op).name);
  return found && ir::arity(*found) == 1 && ir::takes(*found, Scalar::f32) ? found : std::nullopt;
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
  if (!program::is_elementwise(node.op)) return false;
  const auto can_load = [&](Id id) { return scalar_of(graph[id].dtype).has_value(); };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), can_load)) return false;
  return is_among(kKnown, node.op) || builtin_of(node.op).has_value() || is_real_function(node.op);
}

Value apply(KernelWriter& writer, const Graph& graph, const Node& node, std::vector<Value> inputs) {
  const Scalar operand = operand_type(graph, node, inputs);
  for (size_t i = node.op == Op::where ? 1 : 0; i < inputs.size(); ++i) {
    inputs[i] = writer.cast(operand, inputs[i]);
  }
  Functions make(writer, operand);
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
    case Op::floor_divide:
      return make.floor_divide(a, b);
    case Op::remainder:
      return make.remainder(a, b);
    case Op::bitwise_invert:
      return writer.make.unary(UnaryOperator::invert, a).value();
    case Op::bitwise_and:
      return writer.binary(BinaryOperator::bit_and, a, b);
    case Op::bitwise_or:
      return writer.binary(BinaryOperator::bit_or, a, b);
    case Op::bitwise_xor:
      return writer.binary(BinaryOperator::bit_xor, a, b);
    case Op::left_shift:
      return make.shifted(BinaryOperator::shift_left, a, b);
    case Op::right_shift:
      return make.shifted(BinaryOperator::shift_right, a, b);
    case Op::expm1:
      return make.expm1(a);
    case Op::log1p:
      return make.log1p(a);
    case Op::sign:
      return make.sign(a);
    case Op::copysign:
      // A NaN's sign counts as positive.
      return make.with_sign(
          a, writer.select(make.compare(ir::Comparison::equal, b, b), b, make.zero()));
    default:  // integers are whole already
      if (is_real_function(node.op)) return real_function(writer, node.op, a, b);
      return ir::is_float(operand) ? make.call(*builtin_of(node.op), {a}) : a;
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
  if (op == Op::sum || op == Op::product || op == Op::cumulative_sum) {
    made.is_product_ = op == Op::product;
    made.is_running_ = op == Op::cumulative_sum;
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

Value sum_start(KernelWriter& writer, Scalar type) {
  return ir::is_float(type) ? writer.make.real(type, -0.0) : writer.make.integer(type, 0);
}

Value Accumulation::start(KernelWriter& writer) const {
  if (is_running_) return sum_start(writer, type_);
  if (op_ == ir::ReduceOperator::add) {
    const int first = is_product_ ? 1 : 0;
    return ir::is_float(type_) ? writer.make.real(type_, first) : writer.make.integer(type_, first);
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
