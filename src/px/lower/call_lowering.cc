// Calls: casts, the language's functions, and those of the file.
#include <fmt/format.h>

#include "base/nearest_word.h"
#include "ir/arithmetic.h"
#include "px/lower/evaluate.h"
#include "px/lower/expression_lowering.h"

namespace hoist::px {

using syntax::Expression;
using syntax::ExpressionKind;

bool ExpressionLowering::expect_arguments(const Expression& expression, size_t count) {
  if (expression.operands.size() == count) return true;
  l_.error(
      expression.span,
      fmt::format("{} takes {} value{}, not {}", expression.text, count, count == 1 ? "" : "s",
                  expression.operands.size()),
      count == 0 ? fmt::format("write {}()", expression.text) : fmt::format("give it {}", count));
  return false;
}

std::optional<std::vector<Value>> ExpressionLowering::arguments(const Expression& expression) {
  std::vector<Value> values;
  bool is_whole = true;
  for (const syntax::ExpressionPointer& operand : expression.operands) {
    const std::optional<Value> found = value(*operand);
    if (found) values.push_back(*found);
    is_whole = is_whole && found;
  }
  if (!is_whole) return std::nullopt;
  return values;
}

std::optional<Value> ExpressionLowering::call(const Expression& expression,
                                              std::optional<ir::Type> wanted) {
  const std::string& called = expression.text;
  if (const auto found = find_intrinsic(called)) return intrinsic(*found, expression, wanted);
  if (const auto found = ir::find_builtin(called)) return builtin(*found, expression);
  if (const auto found = find_bit_cast(called)) return bit_cast(*found, expression);
  if (const auto found = find_type(called)) {
    if (!found->is_vector()) return cast(found->scalar, expression);
    l_.error(expression.span, "a cast makes one value, not a vector", "write vector(a, b, …)");
    return std::nullopt;
  }
  Symbol* symbol = l_.scopes.find(called);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::failed) return std::nullopt;
  if (symbol != nullptr && symbol->kind == Symbol::Kind::function) {
    symbol->is_used = true;
    return call_function(*symbol->function, expression);
  }
  if (symbol != nullptr) {
    l_.error(expression.span, fmt::format("{} is no function", called),
             symbol->kind == Symbol::Kind::array
                 ? fmt::format("write an element: {}[i]", called)
                 : fmt::format("leave the parentheses out, or put a space behind {}", called));
    return std::nullopt;
  }
  if (l_.forgives_unknown_names) return std::nullopt;
  if (l_.function != nullptr && l_.function->name.text == called) {
    l_.error(expression.span, fmt::format("{} calls itself", called),
             "write a loop: functions do not recur");
    return std::nullopt;
  }
  std::vector<std::string> known;
  if (!l_.diagnostics.is_full()) known = builtin_names();
  if (!known.empty()) {
    for (std::string& name : l_.scopes.names()) known.push_back(std::move(name));
  }
  const std::string nearest = nearest_word(called, known);
  l_.error(expression.span, fmt::format("no function {}", called),
           nearest.empty() ? fmt::format("write it before: FUNC {}(a type) → type:", called)
                           : fmt::format("is it {}?", nearest));
  return std::nullopt;
}

std::optional<Value> ExpressionLowering::intrinsic(Intrinsic intrinsic,
                                                   const Expression& expression,
                                                   std::optional<ir::Type> wanted) {
  switch (intrinsic) {
    case Intrinsic::minimum:
      return extreme(ir::BinaryOperator::minimum, expression);
    case Intrinsic::maximum:
      return extreme(ir::BinaryOperator::maximum, expression);
    case Intrinsic::select:
      return select(expression, wanted);
    case Intrinsic::length:
      return length(expression);
    case Intrinsic::vector:
      return vector(expression);
    case Intrinsic::thread_id:
      return id(ir::Id::thread, expression);
    case Intrinsic::block_id:
      return id(ir::Id::block, expression);
    case Intrinsic::local_id:
      return id(ir::Id::local, expression);
    case Intrinsic::block_size:
      return id(ir::Id::block_size, expression);
    case Intrinsic::grid_size:
      return id(ir::Id::grid_size, expression);
    case Intrinsic::lane_id:
      return id(ir::Id::lane, expression);
  }
  return std::nullopt;
}

std::optional<Value> ExpressionLowering::id(ir::Id id, const Expression& expression) {
  if (l_.function != nullptr) {
    l_.error(expression.span, fmt::format("{} in a function", expression.text),
             "take it in the kernel, and give it to the function");
    return std::nullopt;
  }
  int dimension = 0;
  if (id == ir::Id::lane || expression.operands.size() > 1) {
    if (!expect_arguments(expression, id == ir::Id::lane ? 0 : 1)) return std::nullopt;
  } else if (!expression.operands.empty()) {
    const ir::Expression* number = integer(*expression.operands[0], "a dimension");
    if (number == nullptr) return std::nullopt;
    const auto bits = evaluate(*number);
    if (!bits || *bits > 2) {
      l_.error(expression.operands[0]->span, "a dimension is 0, 1 or 2",
               fmt::format("write {}(0) for x, 1 for y, 2 for z", expression.text));
      return std::nullopt;
    }
    dimension = static_cast<int>(*bits);
  }
  return result(l_.module.expressions().id(id, dimension), expression.span);
}

std::optional<Value> ExpressionLowering::extreme(ir::BinaryOperator op,
                                                 const Expression& expression) {
  if (!expect_arguments(expression, 2)) return std::nullopt;
  return binary(op, *expression.operands[0], *expression.operands[1], expression.span);
}

std::optional<Value> ExpressionLowering::select(const Expression& expression,
                                                std::optional<ir::Type> wanted) {
  if (!expect_arguments(expression, 3)) return std::nullopt;
  const ir::Expression* decides = condition(*expression.operands[0], "select");
  const bool guards = decides != nullptr && watch_.is_guard(*decides);
  if (guards) watch_.enter();
  const std::optional<Value> yes = value(*expression.operands[1]);
  const std::optional<Value> no = value(*expression.operands[2]);
  if (guards) watch_.leave();
  if (decides == nullptr || !yes || !no) return std::nullopt;
  const Value both[] = {*yes, *no};
  const bool has_type = !yes->literal || !no->literal || !wanted;
  const auto sides = has_type
                         ? same_type(both, "select")
                         : std::vector{as(*yes, *wanted, "select"), as(*no, *wanted, "select")};
  if (!has_type && (sides[0] == nullptr || sides[1] == nullptr)) return std::nullopt;
  if (sides.empty()) return std::nullopt;
  return result(made(l_.module.expressions().select(decides, sides[0], sides[1]), expression.span),
                expression.span);
}

std::optional<Value> ExpressionLowering::length(const Expression& expression) {
  if (!expect_arguments(expression, 1)) return std::nullopt;
  const Expression& of = *expression.operands[0];
  const Symbol* symbol = of.kind == ExpressionKind::name ? l_.find(of.text, of.span) : nullptr;
  if (of.kind == ExpressionKind::name && symbol == nullptr) return std::nullopt;
  if (symbol == nullptr || symbol->kind != Symbol::Kind::array) {
    l_.error(of.span, "len takes the name of an array", "write len(a)");
    return std::nullopt;
  }
  ir::Expressions& make = l_.module.expressions();
  const bool is_fixed = symbol->array->space != ir::Space::global;
  return result(is_fixed ? make.integer(ir::Scalar::i64, static_cast<int64_t>(symbol->array->count))
                         : make.length(symbol->array),
                expression.span);
}

std::optional<Value> ExpressionLowering::vector(const Expression& expression) {
  const auto values = arguments(expression);
  if (!values) return std::nullopt;
  const size_t count = values->size();
  if (count != 2 && count != 4 && count != 8 && count != 16) {
    l_.error(expression.span, fmt::format("a vector of {} values", count), "give it 2, 4, 8 or 16");
    return std::nullopt;
  }
  const auto lanes = same_type(*values, "vector");
  if (lanes.empty()) return std::nullopt;
  return result(made(l_.module.expressions().vector(lanes), expression.span), expression.span);
}

std::optional<Value> ExpressionLowering::cast(ir::Scalar type, const Expression& expression) {
  if (!expect_arguments(expression, 1)) return std::nullopt;
  const std::optional<Value> of = value(*expression.operands[0]);
  if (!of) return std::nullopt;
  ir::Expressions& make = l_.module.expressions();
  if (of->literal) {
    if (const Result<uint64_t> bits = bits_of(*of->literal, type)) {
      return result(make.constant(type, *bits), expression.span);
    }
    // Out of its range it is cast as a value would be.
    const ir::Scalar wide = of->literal->is_real ? ir::Scalar::f64 : own_type(*of->literal);
    const Result<uint64_t> bits = bits_of(*of->literal, wide);
    if (!bits) return std::nullopt;
    return result(make.constant(type, ir::cast_bits(wide, type, *bits)), expression.span);
  }
  return result(made(make.cast(type, of->expression), expression.span), expression.span);
}

std::optional<Value> ExpressionLowering::bit_cast(ir::Scalar type, const Expression& expression) {
  if (!expect_arguments(expression, 1)) return std::nullopt;
  const ir::Expression* of = typed(*expression.operands[0]);
  if (of == nullptr) return std::nullopt;
  return result(made(l_.module.expressions().bitcast(type, of), expression.span), expression.span);
}

std::optional<Value> ExpressionLowering::builtin(ir::Builtin builtin,
                                                 const Expression& expression) {
  if (!expect_arguments(expression, static_cast<size_t>(ir::arity(builtin)))) return std::nullopt;
  auto values = arguments(expression);
  if (!values) return std::nullopt;
  // Whole numbers alone are reals to a function of reals: sqrt(2).
  const bool takes_i32 = ir::takes(builtin, ir::Scalar::i32);
  for (Value& value : *values) {
    if (!takes_i32 && value.literal && !value.literal->is_real) {
      value.literal = Literal{.is_real = true, .real = value.literal->number()};
    }
  }
  const auto typed = same_type(*values, expression.text);
  if (typed.empty()) return std::nullopt;
  const ir::Type type = typed[0]->type;
  if (type.is_vector() || !ir::takes(builtin, type.scalar)) {
    const bool takes_reals = ir::takes(builtin, ir::Scalar::f32);
    l_.error(expression.span, fmt::format("{} does not take {}", expression.text, name(type)),
             type.is_vector() ? "take the lanes: v[0], v[1], …"
             : takes_reals    ? fmt::format("cast it: {}(f32(…))", expression.text)
                              : fmt::format("give {} an integer", expression.text));
    return std::nullopt;
  }
  return result(made(l_.module.expressions().builtin(builtin, typed), expression.span),
                expression.span);
}

std::optional<Value> ExpressionLowering::call_function(const ir::Function& function,
                                                       const Expression& expression) {
  if (!expect_arguments(expression, function.parameters.size())) return std::nullopt;
  std::vector<const ir::Expression*> values;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const ir::Parameter& parameter = *function.parameters[i];
    const ir::Expression* argument = as(*expression.operands[i], parameter.type, parameter.name);
    if (argument == nullptr) return std::nullopt;
    values.push_back(argument);
  }
  return result(made(l_.module.expressions().call(&function, values), expression.span),
                expression.span);
}

}  // namespace hoist::px
