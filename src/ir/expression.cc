#include "ir/expression.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ir/arithmetic.h"
#include "ir/module.h"

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

uint64_t hash_of(const Expression& e) {
  uint64_t hash = 14695981039346656037ULL;
  const auto add = [&](uint64_t word) { hash = (hash ^ word) * 1099511628211ULL; };
  const auto add_pointer = [&](const void* pointer) { add(std::hash<const void*>()(pointer)); };
  add(static_cast<uint64_t>(e.kind));
  add(static_cast<uint64_t>(e.type.scalar));
  add(uint64_t{e.type.lanes} << 16 | uint64_t{e.code} << 8 | e.dimension);
  add(e.bits ^ e.bits >> 32);
  add_pointer(e.parameter);
  add_pointer(e.variable);
  add_pointer(e.array);
  add_pointer(e.function);
  for (const Expression* operand : e.operands) add_pointer(operand);
  return hash;
}

bool is_same(const Expression& a, const Expression& b) {
  return a.kind == b.kind && a.type == b.type && a.code == b.code && a.dimension == b.dimension &&
         a.bits == b.bits && a.parameter == b.parameter && a.variable == b.variable &&
         a.array == b.array && a.function == b.function && a.operands == b.operands;
}

template <typename... Arguments>
Error refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return fail(ErrorCode::invalid_argument,
              fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename Word>
Expression node(Kind kind, Type type, Word code, std::vector<const Expression*> operands) {
  Expression made;
  made.kind = kind;
  made.type = type;
  made.code = static_cast<uint8_t>(code);
  made.operands = std::move(operands);
  return made;
}

bool is_scalar_of(Type type, bool (*is_kind)(Scalar)) {
  return !type.is_vector() && is_kind(type.scalar);
}
bool is_number(Type type) { return !type.is_vector() && type.scalar != Scalar::boolean; }
bool is_any_integer(Scalar scalar) { return is_integer(scalar); }
bool is_bits(Scalar scalar) { return is_integer(scalar) || scalar == Scalar::boolean; }

bool is_shift(BinaryOperator op) { return op >= BinaryOperator::shift_left; }

bool takes(BinaryOperator op, Type type) {
  if (op <= BinaryOperator::divide) return is_number(type);
  switch (op) {
    case BinaryOperator::minimum:
    case BinaryOperator::maximum:
      return is_number(type);
    case BinaryOperator::bit_and:
    case BinaryOperator::bit_or:
    case BinaryOperator::bit_xor:
      return is_scalar_of(type, is_bits);
    default:
      return is_scalar_of(type, is_any_integer);
  }
}

}  // namespace

const Expression* Expressions::intern(Expression expression) {
  for (const Expression* operand : expression.operands) expression.has_load |= operand->has_load;
  const uint64_t hash = hash_of(expression);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (is_same(*at->second, expression)) return at->second;
  }
  all_.push_back(std::move(expression));
  by_hash_.emplace(hash, &all_.back());
  return &all_.back();
}

const Expression* Expressions::constant(Scalar type, uint64_t bits) {
  Expression made;
  made.type = type;
  made.bits = bits & mask(type);
  return intern(std::move(made));
}

const Expression* Expressions::integer(Scalar type, int64_t value) {
  return constant(type, cast_bits(Scalar::i64, type, static_cast<uint64_t>(value)));
}

const Expression* Expressions::real(Scalar type, double value) {
  return constant(type, cast_bits(Scalar::f64, type, std::bit_cast<uint64_t>(value)));
}

const Expression* Expressions::parameter(const Parameter* parameter) {
  Expression made = node(Kind::parameter, parameter->type, 0, {});
  made.parameter = parameter;
  return intern(std::move(made));
}

const Expression* Expressions::variable(const Variable* variable) {
  Expression made = node(Kind::variable, variable->type, 0, {});
  made.variable = variable;
  return intern(std::move(made));
}

const Expression* Expressions::id(Id id, int dimension) {
  Expression made = node(Kind::id, Scalar::i32, id, {});
  made.dimension = static_cast<uint8_t>(id == Id::lane ? 0 : dimension);
  return intern(std::move(made));
}

const Expression* Expressions::length(const Array* array) {
  if (array->space != Space::global) {
    return integer(Scalar::i64, static_cast<int64_t>(array->count));
  }
  Expression made = node(Kind::length, Scalar::i64, 0, {});
  made.array = array;
  return intern(std::move(made));
}

ExpressionResult Expressions::load(const Array* array, const Expression* index, int lanes) {
  if (!is_scalar_of(index->type, is_any_integer)) {
    return refuse("an index is an integer, not {}", name(index->type));
  }
  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16) {
    return refuse("a vector has 2, 4, 8 or 16 lanes, not {}", lanes);
  }
  if (lanes > 1 && array->element == Scalar::boolean) return refuse("a vector is not of bool");
  Expression made = node(Kind::load, Type(array->element, lanes), 0, {index});
  made.array = array;
  made.has_load = array->space != Space::constant;
  return intern(std::move(made));
}

ExpressionResult Expressions::unary(UnaryOperator op, const Expression* value) {
  const bool can =
      op == UnaryOperator::negate ? is_number(value->type) : is_scalar_of(value->type, is_bits);
  if (!can) return refuse("{} does not take {}", name(op), name(value->type));
  return intern(node(Kind::unary, value->type, op, {value}));
}

ExpressionResult Expressions::binary(BinaryOperator op, const Expression* left,
                                     const Expression* right) {
  if (!takes(op, left->type)) return refuse("{} does not take {}", name(op), name(left->type));
  if (is_shift(op)) {
    if (!is_scalar_of(right->type, is_any_integer)) {
      return refuse("{} by an integer, not by {}", name(op), name(right->type));
    }
  } else if (left->type != right->type) {
    return refuse("{} takes two values of one type, not {} and {}", name(op), name(left->type),
                  name(right->type));
  }
  return intern(node(Kind::binary, left->type, op, {left, right}));
}

ExpressionResult Expressions::compare(Comparison comparison, const Expression* left,
                                      const Expression* right) {
  if (left->type != right->type) {
    return refuse("{} compares two values of one type, not {} and {}", name(comparison),
                  name(left->type), name(right->type));
  }
  const bool is_equality = comparison <= Comparison::not_equal;
  if (left->type.is_vector() || (left->type == Scalar::boolean && !is_equality)) {
    return refuse("{} does not take {}", name(comparison), name(left->type));
  }
  return intern(node(Kind::compare, Scalar::boolean, comparison, {left, right}));
}

ExpressionResult Expressions::select(const Expression* condition, const Expression* yes,
                                     const Expression* no) {
  if (condition->type != Scalar::boolean) {
    return refuse("a condition is bool, not {}", name(condition->type));
  }
  if (yes->type != no->type) {
    return refuse("select takes two values of one type, not {} and {}", name(yes->type),
                  name(no->type));
  }
  return intern(node(Kind::select, yes->type, 0, {condition, yes, no}));
}

ExpressionResult Expressions::cast(Scalar type, const Expression* value) {
  if (value->type.is_vector()) return refuse("a cast does not take {}", name(value->type));
  if (value->type == type) return value;
  return intern(node(Kind::cast, type, 0, {value}));
}

ExpressionResult Expressions::bitcast(Scalar type, const Expression* value) {
  if (!is_number(value->type) || type == Scalar::boolean ||
      bits(type) != bits(value->type.scalar)) {
    return refuse("{} and {} do not have the same bits", name(value->type), name(Type(type)));
  }
  if (value->type == type) return value;
  return intern(node(Kind::bitcast, type, 0, {value}));
}

ExpressionResult Expressions::builtin(Builtin builtin,
                                      std::span<const Expression* const> arguments) {
  if (arguments.size() != static_cast<size_t>(arity(builtin))) {
    return refuse("{} takes {} values, not {}", name(builtin), arity(builtin), arguments.size());
  }
  const Type type = arguments[0]->type;
  for (const Expression* argument : arguments) {
    if (argument->type.is_vector() || !ir::takes(builtin, argument->type.scalar)) {
      return refuse("{} does not take {}", name(builtin), name(argument->type));
    }
    if (argument->type != type) {
      return refuse("{} takes values of one type, not {} and {}", name(builtin), name(type),
                    name(argument->type));
    }
  }
  const Type result = builtin == Builtin::is_nan ? Type(Scalar::boolean) : type;
  return intern(node(Kind::builtin, result, builtin, {arguments.begin(), arguments.end()}));
}

ExpressionResult Expressions::call(const Function* function,
                                   std::span<const Expression* const> arguments) {
  if (arguments.size() != function->parameters.size()) {
    return refuse("{} takes {} values, not {}", function->name, function->parameters.size(),
                  arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = *function->parameters[i];
    if (arguments[i]->type != parameter.type) {
      return refuse("{} of {} is {}, not {}", parameter.name, function->name, name(parameter.type),
                    name(arguments[i]->type));
    }
  }
  Expression made = node(Kind::call, function->result, 0, {arguments.begin(), arguments.end()});
  made.function = function;
  return intern(std::move(made));
}

ExpressionResult Expressions::lane(const Expression* vector, int number) {
  if (number < 0 || number >= vector->type.lanes || !vector->type.is_vector()) {
    return refuse("{} has no lane {}", name(vector->type), number);
  }
  Expression made = node(Kind::lane, vector->type.scalar, 0, {vector});
  made.dimension = static_cast<uint8_t>(number);
  return intern(std::move(made));
}

ExpressionResult Expressions::vector(std::span<const Expression* const> values) {
  const size_t lanes = values.size();
  if (lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16) {
    return refuse("a vector has 2, 4, 8 or 16 lanes, not {}", lanes);
  }
  const Type type = values[0]->type;
  const bool is_uniform = !type.is_vector() && std::ranges::all_of(values, [&](const auto* value) {
    return value->type == type;
  });
  if (!is_uniform) return refuse("a vector is made of values of one scalar type");
  if (type == Scalar::boolean) return refuse("a vector is not of bool");
  return intern(node(Kind::vector, Type(type.scalar, static_cast<int>(lanes)), 0,
                     {values.begin(), values.end()}));
}

const Expression* Expressions::with_operands(const Expression* expression,
                                             std::vector<const Expression*> operands) {
  if (operands == expression->operands) return expression;
  Expression made = *expression;
  made.operands = std::move(operands);
  made.has_load = made.kind == Kind::load && made.array->space != Space::constant;
  return intern(std::move(made));
}

}  // namespace hoist::ir
