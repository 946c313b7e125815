#include "ir/passes/fold.h"

#include <algorithm>
#include <vector>

#include "ir/arithmetic.h"

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

bool has_constant_operands(const Expression& e) {
  return std::ranges::all_of(e.operands,
                             [](const Expression* operand) { return operand->is_constant(); });
}

}  // namespace

const Expression* fold(Expressions& make, const Expression& e) {
  if (e.operands.empty() || e.type.is_vector() || !has_constant_operands(e)) return nullptr;
  std::vector<uint64_t> bits;
  for (const Expression* operand : e.operands) bits.push_back(operand->bits);
  const Scalar from = e.operands[0]->type.scalar;
  const Scalar type = e.type.scalar;
  switch (e.kind) {
    case Kind::unary:
      return make.constant(type, unary_bits(e.unary_operator(), type, bits[0]));
    case Kind::binary:
      return make.constant(type, binary_bits(e.binary_operator(), type, bits[0], bits[1],
                                             e.operands[1]->type.scalar));
    case Kind::compare:
      return make.boolean(compare_bits(e.comparison(), from, bits[0], bits[1]));
    case Kind::select:
      return e.operands[bits[0] ? 1 : 2];
    case Kind::cast:
      return make.constant(type, cast_bits(from, type, bits[0]));
    case Kind::bitcast:
      return make.constant(type, bits[0]);
    case Kind::builtin:
      if (!is_exact(e.builtin())) return nullptr;
      return make.constant(type, builtin_bits(e.builtin(), from, bits));
    default:
      return nullptr;
  }
}

}  // namespace hoist::ir
