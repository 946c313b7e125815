#include "px/lower/evaluate.h"

#include <cstring>
#include <vector>

#include "ir/arithmetic.h"

namespace hoist::px {
namespace {

using Kind = ir::Expression::Kind;
using Bits = std::optional<uint64_t>;

class Evaluator {
 public:
  explicit Evaluator(const Known& known) : known_(known) {}

  Bits value(const ir::Expression& e) const {
    if (e.type.is_vector()) return std::nullopt;
    switch (e.kind) {
      case Kind::constant:
        return e.bits;
      case Kind::parameter:
        return known_.parameter ? known_.parameter(*e.parameter) : Bits();
      case Kind::length:
        if (e.array->space != ir::Space::global) return e.array->count;
        return known_.length ? known_.length(*e.array) : Bits();
      case Kind::id:
        return known_.id ? known_.id(e.id(), e.dimension) : Bits();
      case Kind::load:
        return element(e);
      case Kind::select:
        return selected(e);
      default:
        break;
    }
    std::vector<uint64_t> operands;
    for (const ir::Expression* operand : e.operands) {
      if (operand->type.is_vector()) return std::nullopt;
      const Bits bits = value(*operand);
      if (!bits) return std::nullopt;
      operands.push_back(*bits);
    }
    return computed(e, operands);
  }

 private:
  Bits element(const ir::Expression& e) const {
    if (e.array->space != ir::Space::constant) return std::nullopt;
    const Bits index = value(*e.operands[0]);
    if (!index) return std::nullopt;
    const auto at = static_cast<uint64_t>(ir::integer_of(e.operands[0]->type.scalar, *index));
    return at < e.array->values.size() ? Bits(e.array->values[at]) : std::nullopt;
  }

  Bits selected(const ir::Expression& e) const {
    const Bits condition = value(*e.operands[0]);
    if (!condition) return std::nullopt;
    return value(*e.operands[*condition != 0 ? 1 : 2]);
  }

  static Bits computed(const ir::Expression& e, const std::vector<uint64_t>& operands) {
    const auto type_of = [&](size_t number) { return e.operands[number]->type.scalar; };
    switch (e.kind) {
      case Kind::unary:
        return unary_bits(e.unary_operator(), e.type.scalar, operands[0]);
      case Kind::binary:
        return binary_bits(e.binary_operator(), e.type.scalar, operands[0], operands[1],
                           type_of(1));
      case Kind::compare:
        return compare_bits(e.comparison(), type_of(0), operands[0], operands[1]) ? 1 : 0;
      case Kind::cast:
        return ir::cast_bits(type_of(0), e.type.scalar, operands[0]);
      case Kind::bitcast:
        return operands[0];
      case Kind::builtin:
        return builtin_bits(e.builtin(), type_of(0), operands);
      default:
        return std::nullopt;
    }
  }

  const Known& known_;
};

}  // namespace

std::optional<uint64_t> evaluate(const ir::Expression& expression, const Known& known) {
  return Evaluator(known).value(expression);
}

}  // namespace hoist::px
