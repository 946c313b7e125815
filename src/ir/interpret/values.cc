// Expressions of one thread.
#include <span>

#include "ir/arithmetic.h"
#include "ir/interpret/frame.h"

namespace hoist::ir {

using Kind = Expression::Kind;

uint64_t Frame::value(const Expression& e, uint32_t thread, int lane) {
  const auto operand = [&](size_t i) { return value(*e.operands[i], thread); };
  const auto operand_type = [&](size_t i) { return e.operands[i]->type.scalar; };
  switch (e.kind) {
    case Kind::constant:
      return e.bits;
    case Kind::parameter:
      return parameters_.at(e.parameter);
    case Kind::variable:
      return slot(e.variable, thread)[static_cast<size_t>(lane)];
    case Kind::id:
      return id(e, thread);
    case Kind::length:
      return arrays_.at(e.array).length;
    case Kind::load:
      return load(e, thread, lane);
    case Kind::unary:
      return unary_bits(e.unary_operator(), e.type.scalar, operand(0));
    case Kind::binary:
      return binary(e, thread);
    case Kind::compare:
      return compare_bits(e.comparison(), operand_type(0), operand(0), operand(1)) ? 1 : 0;
    case Kind::select:
      return value(*e.operands[operand(0) ? 1 : 2], thread, lane);
    case Kind::cast:
      return cast_bits(operand_type(0), e.type.scalar, operand(0));
    case Kind::bitcast:
      return operand(0);
    case Kind::builtin: {
      std::array<uint64_t, 3> arguments = {};
      for (size_t i = 0; i < e.operands.size(); ++i) arguments[i] = operand(i);
      return builtin_bits(e.builtin(), operand_type(0),
                          std::span(arguments).first(e.operands.size()));
    }
    case Kind::call:
      return call(e, thread);
    case Kind::lane:
      return value(*e.operands[0], thread, e.dimension);
    case Kind::vector:
      return operand(static_cast<size_t>(lane));
  }
  return 0;
}

uint64_t* Frame::slot(const Variable* variable, uint32_t thread) {
  const size_t lanes = variable->type.lanes;
  std::vector<uint64_t>& values = variables_[variable];
  if (values.empty()) values.resize(threads_ * lanes);
  return values.data() + thread * lanes;
}

std::array<uint32_t, 3> Frame::position(uint32_t thread) const {
  const auto& extent = run_.grid.threads;
  return {thread % extent[0], thread / extent[0] % extent[1], thread / extent[0] / extent[1]};
}

uint64_t Frame::id(const Expression& e, uint32_t thread) const {
  const size_t d = e.dimension;
  switch (e.id()) {
    case Id::thread:
      return run_.block[d] * run_.grid.threads[d] + position(thread)[d];
    case Id::block:
      return run_.block[d];
    case Id::local:
      return position(thread)[d];
    case Id::block_size:
      return run_.grid.threads[d];
    case Id::grid_size:
      return run_.grid.blocks[d];
    case Id::lane:
      break;
  }
  return thread % kWarp;
}

uint64_t Frame::binary(const Expression& e, uint32_t thread) {
  const uint64_t left = value(*e.operands[0], thread);
  if (e.type == Scalar::boolean) {
    if (e.binary_operator() == BinaryOperator::bit_and && left == 0) return 0;
    if (e.binary_operator() == BinaryOperator::bit_or && left == 1) return 1;
  }
  const uint64_t right = value(*e.operands[1], thread);
  return binary_bits(e.binary_operator(), e.type.scalar, left, right, e.operands[1]->type.scalar);
}

uint64_t Frame::call(const Expression& e, uint32_t thread) {
  const Function& function = *e.function;
  Frame frame(run_, 1, function.arrays);
  for (size_t i = 0; i < e.operands.size(); ++i) {
    frame.bind(function.parameters[i], value(*e.operands[i], thread));
  }
  frame.run(function.body, {0});
  return frame.result_;
}

uint64_t Frame::load(const Expression& e, uint32_t thread, int lane) {
  const Expression& index = *e.operands[0];
  if (e.array->space == Space::constant) {
    const auto at = element(e.array, index, e.type.lanes, e.array->count, thread);
    return at ? e.array->values[*at + static_cast<uint64_t>(lane)] : 0;
  }
  const Memory from = memory(e.array, thread);
  const auto at = element(e.array, index, e.type.lanes, from.length, thread);
  return at ? read(from, e.array->element, *at + static_cast<uint64_t>(lane)) : 0;
}

}  // namespace hoist::ir
