// Expressions: from syntax to typed IR.
//
// Two sides of an operator have one type; a literal takes the other side's. What is wrong is
// reported, and null or none is given.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/expression.h"
#include "px/lower/bounds_watch.h"
#include "px/lower/literal.h"
#include "px/lower/lowering.h"

namespace hoist::px {

// A typed expression, or a number that has no type yet.
struct Value {
  const ir::Expression* expression = nullptr;
  std::optional<Literal> literal = {};
  Span span = {};
};

// a[index], or with lanes a[index BY lanes].
struct Element {
  const ir::Array* array = nullptr;
  const ir::Expression* index = nullptr;
  int lanes = 1;

  ir::Type type() const { return {array->element, lanes}; }
};

class ExpressionLowering {
 public:
  ExpressionLowering(Lowering& lowering, BoundsWatch& watch) : l_(lowering), watch_(watch) {}

  std::optional<Value> value(const syntax::Expression& expression);
  // A literal has its own type: i32 or f32.
  const ir::Expression* typed(const syntax::Expression& expression);
  const ir::Expression* typed(const Value& value);
  // Gives a value of exactly that type, which `who` has: "sum".
  const ir::Expression* as(const syntax::Expression& expression, ir::Type type,
                           std::string_view who);
  const ir::Expression* as(const Value& value, ir::Type type, std::string_view who);
  const ir::Expression* condition(const syntax::Expression& expression, std::string_view who);
  // Takes any integer type.
  const ir::Expression* integer(const syntax::Expression& expression, std::string_view who);
  // Both, or all, brought to one type: that of those that have one. Empty where that fails.
  std::vector<const ir::Expression*> same_type(std::span<const Value> values, std::string_view who);
  // The number itself, at least 1; none where it is no constant.
  std::optional<uint64_t> count(const syntax::Expression& expression, std::string_view who);

  // A place of an array. `writes`: it is to be stored to.
  std::optional<Element> element(const syntax::Expression& expression, bool writes);

  std::optional<Value> binary(ir::BinaryOperator op, const syntax::Expression& left,
                              const syntax::Expression& right, Span span);
  std::optional<Value> unary(ir::UnaryOperator op, const syntax::Expression& operand, Span span);

  // What the IR made, or null where it refused, which is reported.
  const ir::Expression* made(ir::ExpressionResult result, Span span);

 private:
  std::optional<Value> named(const syntax::Expression& expression);
  std::optional<Value> load(const syntax::Expression& expression);
  std::optional<Value> lane(const syntax::Expression& expression, const ir::Variable* vector);
  std::optional<Value> compare(const syntax::Expression& expression);
  std::optional<Value> shift(ir::BinaryOperator op, const Value& left, const Value& right,
                             Span span);
  std::optional<Value> combined(ir::BinaryOperator op, const Value& left, const Value& right,
                                Span span);
  std::optional<Value> computed(ir::BinaryOperator op, const Value& left, const Value& right,
                                Span span);
  std::optional<Value> guarded(const syntax::Expression& right, const Value& left,
                               ir::BinaryOperator op);
  bool takes_scalars(std::string_view op, const Value& left, const Value& right, Span span);
  bool check_bit_operands(ir::BinaryOperator op, const Value& left, const Value& right, Span span);
  bool check_access(const ir::Array& array, const syntax::Expression& expression, bool writes);

  // Calls (call_lowering.cc).
  std::optional<Value> call(const syntax::Expression& expression, std::optional<ir::Type> wanted);
  std::optional<Value> intrinsic(Intrinsic intrinsic, const syntax::Expression& expression,
                                 std::optional<ir::Type> wanted);
  std::optional<Value> id(ir::Id id, const syntax::Expression& expression);
  std::optional<Value> extreme(ir::BinaryOperator op, const syntax::Expression& expression);
  std::optional<Value> select(const syntax::Expression& expression, std::optional<ir::Type> wanted);
  std::optional<Value> length(const syntax::Expression& expression);
  std::optional<Value> vector(const syntax::Expression& expression);
  std::optional<Value> cast(ir::Scalar type, const syntax::Expression& expression);
  std::optional<Value> bit_cast(ir::Scalar type, const syntax::Expression& expression);
  std::optional<Value> builtin(ir::Builtin builtin, const syntax::Expression& expression);
  std::optional<Value> call_function(const ir::Function& function,
                                     const syntax::Expression& expression);
  bool expect_arguments(const syntax::Expression& expression, size_t count);
  std::optional<std::vector<Value>> arguments(const syntax::Expression& expression);

  std::optional<Value> result(const ir::Expression* expression, Span span) const;

  Lowering& l_;
  BoundsWatch& watch_;
  // The type that the next value is for: what two literals of a select take.
  std::optional<ir::Type> wanted_ = {};
};

}  // namespace hoist::px
