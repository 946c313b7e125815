#include "graph/kernels/writer.h"

#include "ir/arithmetic.h"

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Scalar;

namespace {

bool is_number(Value value, int64_t number) {
  return value->is_constant() && ir::integer_of(value->type.scalar, value->bits) == number;
}

// Divisions of unsigned numbers by constants are multiplications.
Scalar unsigned_of(Scalar index) { return index == Scalar::i32 ? Scalar::u32 : Scalar::u64; }

}  // namespace

Value KernelWriter::plus(Value a, Value b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  return binary(BinaryOperator::add, a, b);
}

Value KernelWriter::times(Value a, int64_t factor) {
  if (factor == 1) return a;
  if (factor == 0 || is_number(a, 0)) return index(0);
  return binary(BinaryOperator::multiply, a, index(factor));
}

Value KernelWriter::over(Value a, int64_t divisor) {
  if (divisor == 1 || is_number(a, 0)) return a;
  const Scalar word = unsigned_of(index_type_);
  return cast(index_type_,
              binary(BinaryOperator::divide, cast(word, a), make.integer(word, divisor)));
}

Value KernelWriter::rest(Value a, int64_t divisor) {
  if (divisor == 1) return index(0);
  if (is_number(a, 0)) return a;
  const Scalar word = unsigned_of(index_type_);
  return cast(index_type_,
              binary(BinaryOperator::remainder, cast(word, a), make.integer(word, divisor)));
}

Value KernelWriter::let(Value value) {
  using Kind = ir::Expression::Kind;
  if (value->kind == Kind::constant || value->kind == Kind::variable) return value;
  return make.variable(builder.declare("v", value));
}

Value KernelWriter::sum_of_lanes(Value lane, Value value) {
  for (int64_t distance = 1; distance < ir::kWarp; distance *= 2) {
    const Value other = shuffled(ir::ShuffleKind::up, value, distance);
    const Value both = binary(BinaryOperator::add, other, value);
    value = let(select(is_from(lane, distance), both, value));
  }
  return value;
}

const ir::Array* KernelWriter::array(Storage storage, const Memory& memory,
                                     ir::Direction direction) {
  const auto found = arrays_.find(storage);
  if (found != arrays_.end()) return found->second;
  const ir::Array* made =
      builder.array("a" + std::to_string(arguments_.size()), memory.element, direction);
  arguments_.push_back({storage, direction != ir::Direction::in});
  return arrays_[storage] = made;
}

KernelStep KernelWriter::finish() {
  KernelStep step;
  step.kernel = builder.finish();
  step.arguments = std::move(arguments_);
  return step;
}

}  // namespace hoist::graph::kernels
