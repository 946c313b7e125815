#include "px/lower/expression_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/arithmetic.h"
#include "px/lower/evaluate.h"

namespace hoist::px {

using syntax::Expression;
using syntax::ExpressionKind;

const ir::Expression* ExpressionLowering::made(ir::ExpressionResult result, Span span) {
  if (result) return *result;
  l_.error(span, result.error().message, "cast a value to the type that fits: f32(x), i32(x), …");
  return nullptr;
}

std::optional<Value> ExpressionLowering::result(const ir::Expression* expression, Span span) const {
  if (expression == nullptr) return std::nullopt;
  return Value{.expression = expression, .span = span};
}

std::optional<Value> ExpressionLowering::value(const Expression& expression) {
  const Span span = expression.span;
  const std::optional<ir::Type> wanted = std::exchange(wanted_, std::nullopt);
  switch (expression.kind) {
    case ExpressionKind::integer:
    case ExpressionKind::real: {
      const bool is_integer = expression.kind == ExpressionKind::integer;
      const auto literal =
          is_integer ? parse_integer(expression.text) : parse_real(expression.text);
      if (literal) return Value{.literal = literal, .span = span};
      l_.error(span, fmt::format("{} does not fit 64 bits", expression.text),
               "write a number of at most 64 bits");
      return std::nullopt;
    }
    case ExpressionKind::boolean:
      return result(l_.module.expressions().boolean(expression.text == "true"), span);
    case ExpressionKind::name:
      return named(expression);
    case ExpressionKind::index:
    case ExpressionKind::vector:
      return load(expression);
    case ExpressionKind::call:
      return call(expression, wanted);
    case ExpressionKind::unary:
      return unary(expression.unary, *expression.operands[0], span);
    case ExpressionKind::binary:
      return binary(expression.binary, *expression.operands[0], *expression.operands[1], span);
    case ExpressionKind::compare:
      return compare(expression);
  }
  return std::nullopt;
}

std::optional<Value> ExpressionLowering::named(const Expression& expression) {
  const Symbol* symbol = l_.find(expression.text, expression.span);
  if (symbol == nullptr) return std::nullopt;
  ir::Expressions& make = l_.module.expressions();
  switch (symbol->kind) {
    case Symbol::Kind::variable:
      return result(make.variable(symbol->variable), expression.span);
    case Symbol::Kind::parameter:
      return result(make.parameter(symbol->parameter), expression.span);
    case Symbol::Kind::constant:
      return result(symbol->value, expression.span);
    case Symbol::Kind::array:
      l_.error(expression.span, fmt::format("{} is an array, and no value", expression.text),
               fmt::format("write an element: {}[i]", expression.text));
      return std::nullopt;
    default:
      l_.error(expression.span, fmt::format("{} is no value", expression.text),
               fmt::format("call it: {}(…)", expression.text));
      return std::nullopt;
  }
}

std::optional<Value> ExpressionLowering::load(const Expression& expression) {
  const Symbol* symbol = l_.scopes.find(expression.text);
  const bool is_vector = symbol != nullptr && symbol->kind == Symbol::Kind::variable &&
                         symbol->variable->type.is_vector();
  if (is_vector) return lane(expression, symbol->variable);
  const std::optional<Element> place = element(expression, false);
  if (!place) return std::nullopt;
  return result(
      made(l_.module.expressions().load(place->array, place->index, place->lanes), expression.span),
      expression.span);
}

std::optional<Value> ExpressionLowering::lane(const Expression& expression,
                                              const ir::Variable* vector) {
  l_.find(expression.text, expression.span);  // it is used
  const ir::Expression* number = typed(*expression.operands[0]);
  if (number == nullptr) return std::nullopt;
  const auto bits = evaluate(*number);
  if (!bits || expression.kind == ExpressionKind::vector || *bits >= vector->type.lanes) {
    l_.error(expression.operands[0]->span,
             fmt::format("{} has the lanes 0 to {}", expression.text, vector->type.lanes - 1),
             "write the lane's number: a constant");
    return std::nullopt;
  }
  ir::Expressions& make = l_.module.expressions();
  return result(made(make.lane(make.variable(vector), static_cast<int>(*bits)), expression.span),
                expression.span);
}

bool ExpressionLowering::check_access(const ir::Array& array, const Expression& expression,
                                      bool writes) {
  if (writes && array.space == ir::Space::constant) {
    l_.error(expression.span, fmt::format("{} is a CONST, and cannot be stored to", array.name),
             "store into an array that is a parameter");
    return false;
  }
  if (array.space != ir::Space::global) return true;
  if (writes && array.direction == ir::Direction::in) {
    l_.error(expression.span, fmt::format("{} is an in array, and cannot be stored to", array.name),
             "declare it out or inout");
    return false;
  }
  if (!writes && array.direction == ir::Direction::out) {
    l_.error(expression.span, fmt::format("{} is an out array, and cannot be read", array.name),
             "declare it inout");
    return false;
  }
  return true;
}

std::optional<Element> ExpressionLowering::element(const Expression& expression, bool writes) {
  const bool is_place =
      expression.kind == ExpressionKind::index || expression.kind == ExpressionKind::vector;
  if (!is_place) {
    l_.error(expression.span, fmt::format("{} is no place of an array", l_.text(expression.span)),
             "write a place: a[i]");
    return std::nullopt;
  }
  const Symbol* symbol = l_.find(expression.text, expression.span);
  const ir::Expression* index = integer(*expression.operands[0], "an index");
  if (symbol == nullptr || index == nullptr) return std::nullopt;
  if (symbol->kind != Symbol::Kind::array) {
    l_.error(expression.span, fmt::format("{} is no array", expression.text),
             fmt::format("leave the index out, or declare {} as an array", expression.text));
    return std::nullopt;
  }
  Element element{symbol->array, index};
  if (!check_access(*element.array, expression, writes)) return std::nullopt;
  if (expression.kind == ExpressionKind::vector) {
    const auto lanes = count(*expression.operands[1], "a number of lanes");
    if (!lanes) return std::nullopt;
    if (*lanes != 2 && *lanes != 4 && *lanes != 8 && *lanes != 16) {
      l_.error(expression.operands[1]->span, fmt::format("a vector of {} lanes", *lanes),
               "take 2, 4, 8 or 16");
      return std::nullopt;
    }
    element.lanes = static_cast<int>(*lanes);
  }
  const bool is_global = element.array->space == ir::Space::global;
  if (is_global && watch_.is_unguarded(*index)) {
    l_.warn(expression.span,
            fmt::format("{} is accessed by the thread's number without a bounds check",
                        element.array->name),
            fmt::format("put it under IF {} < n:, with the array's length as n",
                        l_.text(expression.operands[0]->span)));
  }
  return element;
}

const ir::Expression* ExpressionLowering::typed(const Value& value) {
  if (value.expression != nullptr) return value.expression;
  const ir::Scalar type = own_type(*value.literal);
  return as(value, type, name(type));
}

const ir::Expression* ExpressionLowering::typed(const Expression& expression) {
  const std::optional<Value> found = value(expression);
  return found ? typed(*found) : nullptr;
}

const ir::Expression* ExpressionLowering::as(const Value& value, ir::Type type,
                                             std::string_view who) {
  if (value.expression != nullptr) {
    if (value.expression->type == type) return value.expression;
    const bool is_vector = type.is_vector() || value.expression->type.is_vector();
    l_.error(value.span,
             fmt::format("{} is {}, and {} is {}", who, name(type), l_.text(value.span),
                         name(value.expression->type)),
             is_vector ? "take the lanes, v[0], v[1], …, or make a vector: vector(a, b, …)"
                       : fmt::format("cast it: {}({})", name(type), l_.text(value.span)));
    return nullptr;
  }
  const Result<uint64_t> bits =
      type.is_vector() ? fail(ErrorCode::invalid_argument,
                              fmt::format("{} is {}, and this is one number", who, name(type)))
                       : bits_of(*value.literal, type.scalar);
  if (bits) return l_.module.expressions().constant(type.scalar, *bits);
  const std::string mend = type.is_vector() ? "write vector(a, b, …)"
                           : type.scalar == ir::Scalar::boolean
                               ? "write true or false, or a comparison"
                               : fmt::format("write a number that fits, or cast this one: {}({})",
                                             name(type), text_of(*value.literal));
  l_.error(value.span, bits.error().message, mend);
  return nullptr;
}

const ir::Expression* ExpressionLowering::as(const Expression& expression, ir::Type type,
                                             std::string_view who) {
  wanted_ = type;
  const std::optional<Value> found = value(expression);
  wanted_.reset();
  return found ? as(*found, type, who) : nullptr;
}

const ir::Expression* ExpressionLowering::condition(const Expression& expression,
                                                    std::string_view who) {
  const ir::Expression* found = typed(expression);
  if (found == nullptr || found->type == ir::Scalar::boolean) return found;
  l_.error(expression.span,
           fmt::format("{} takes a bool, and {} is {}", who, l_.text(expression.span),
                       name(found->type)),
           fmt::format("compare it: {} != 0", l_.text(expression.span)));
  return nullptr;
}

const ir::Expression* ExpressionLowering::integer(const Expression& expression,
                                                  std::string_view who) {
  const ir::Expression* found = typed(expression);
  if (found == nullptr) return nullptr;
  if (!found->type.is_vector() && ir::is_integer(found->type.scalar)) return found;
  l_.error(expression.span,
           fmt::format("{} is an integer, and {} is {}", who, l_.text(expression.span),
                       name(found->type)),
           fmt::format("cast it: i32({})", l_.text(expression.span)));
  return nullptr;
}

std::optional<uint64_t> ExpressionLowering::count(const Expression& expression,
                                                  std::string_view who) {
  const ir::Expression* found = integer(expression, who);
  if (found == nullptr) return std::nullopt;
  const auto bits = evaluate(*found);
  if (!bits) {
    l_.error(expression.span,
             fmt::format("{} is a constant, and {} is none", who, l_.text(expression.span)),
             "write a number or the name of a CONST");
    return std::nullopt;
  }
  const int64_t number = ir::integer_of(found->type.scalar, *bits);
  if (number > 0) return static_cast<uint64_t>(number);
  l_.error(expression.span, fmt::format("{} is at least 1, and not {}", who, number),
           "write a larger number");
  return std::nullopt;
}

std::vector<const ir::Expression*> ExpressionLowering::same_type(std::span<const Value> values,
                                                                 std::string_view who) {
  const auto first = std::find_if(values.begin(), values.end(),
                                  [](const Value& value) { return value.expression != nullptr; });
  ir::Type type = ir::Scalar::i32;
  if (first != values.end()) {
    type = first->expression->type;
  } else if (!values.empty()) {
    const auto widest = std::max_element(
        values.begin(), values.end(),
        [](const Value& a, const Value& b) { return own_type(*a.literal) < own_type(*b.literal); });
    type = own_type(*widest->literal);
  }
  std::vector<const ir::Expression*> made;
  for (const Value& value : values) {
    const bool is_other = value.expression != nullptr && value.expression->type != type;
    if (is_other) {
      l_.error(value.span,
               fmt::format("{} takes values of one type, and these are {} and {}", who, name(type),
                           name(value.expression->type)),
               type.is_vector() || value.expression->type.is_vector()
                   ? "take the lanes: v[0], v[1], …"
                   : fmt::format("cast one of them: {}({})", name(type), l_.text(value.span)));
      return {};
    }
    const ir::Expression* expression = as(value, type, who);
    if (expression == nullptr) return {};
    made.push_back(expression);
  }
  return made;
}

}  // namespace hoist::px
