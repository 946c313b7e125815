// Kernels as tests write them: values with operators, which throw where types are wrong.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace hoist::ir {

struct Term {
  Expressions* make;
  const Expression* expression;

  operator const Expression*() const { return expression; }  // NOLINT(google-explicit-constructor)
  Term with(const ExpressionResult& result) const { return {make, result.value()}; }
  // A number of this term's type.
  Term number(double value) const {
    const Scalar type = expression->type.scalar;
    return {make, is_float(type) ? make->real(type, value)
                                 : make->integer(type, static_cast<int64_t>(value))};
  }
  Term as(Scalar type) const { return with(make->cast(type, expression)); }
  Term bits_as(Scalar type) const { return with(make->bitcast(type, expression)); }
  Term lane(int number) const { return with(make->lane(expression, number)); }
};

inline Term binary(BinaryOperator op, Term a, Term b) { return a.with(a.make->binary(op, a, b)); }
inline Term compare(Comparison comparison, Term a, Term b) {
  return a.with(a.make->compare(comparison, a, b));
}
inline Term operator+(Term a, Term b) { return binary(BinaryOperator::add, a, b); }
inline Term operator-(Term a, Term b) { return binary(BinaryOperator::subtract, a, b); }
inline Term operator*(Term a, Term b) { return binary(BinaryOperator::multiply, a, b); }
inline Term operator/(Term a, Term b) { return binary(BinaryOperator::divide, a, b); }
inline Term operator%(Term a, Term b) { return binary(BinaryOperator::remainder, a, b); }
inline Term operator&(Term a, Term b) { return binary(BinaryOperator::bit_and, a, b); }
inline Term operator|(Term a, Term b) { return binary(BinaryOperator::bit_or, a, b); }
inline Term operator^(Term a, Term b) { return binary(BinaryOperator::bit_xor, a, b); }
inline Term operator<<(Term a, Term b) { return binary(BinaryOperator::shift_left, a, b); }
inline Term operator>>(Term a, Term b) { return binary(BinaryOperator::shift_right, a, b); }
inline Term operator-(Term a) { return a.with(a.make->unary(UnaryOperator::negate, a)); }
inline Term operator~(Term a) { return a.with(a.make->unary(UnaryOperator::invert, a)); }
inline Term operator<(Term a, Term b) { return compare(Comparison::less, a, b); }
inline Term operator>=(Term a, Term b) { return compare(Comparison::greater_equal, a, b); }
inline Term operator==(Term a, Term b) { return compare(Comparison::equal, a, b); }
inline Term operator+(Term a, double b) { return a + a.number(b); }
inline Term operator-(Term a, double b) { return a - a.number(b); }
inline Term operator*(Term a, double b) { return a * a.number(b); }
inline Term operator/(Term a, double b) { return a / a.number(b); }
inline Term operator%(Term a, double b) { return a % a.number(b); }
inline Term operator<(Term a, double b) { return a < a.number(b); }
inline Term operator>=(Term a, double b) { return a >= a.number(b); }
inline Term operator==(Term a, double b) { return a == a.number(b); }
inline Term select(Term condition, Term yes, Term no) {
  return condition.with(condition.make->select(condition, yes, no));
}
inline Term call(Builtin builtin, std::initializer_list<Term> arguments) {
  const Term first = *arguments.begin();
  const std::vector<const Expression*> list(arguments.begin(), arguments.end());
  return first.with(first.make->builtin(builtin, list));
}

// A kernel under construction whose statements throw where they are wrong.
class TestKernel : public KernelBuilder {
 public:
  explicit TestKernel(Module& module, std::string name = "k")
      : KernelBuilder(module, std::move(name)) {}

  Term term(const Expression* expression) { return {&module_.expressions(), expression}; }
  Term number(Scalar type, double value) {
    return term(module_.expressions().constant(type, 0)).number(value);
  }
  Term scalar(std::string name, Scalar type) {
    return term(module_.expressions().parameter(parameter(std::move(name), type)));
  }
  Term id(Id which, int dimension = 0) { return term(module_.expressions().id(which, dimension)); }
  Term length(const Array* array) { return term(module_.expressions().length(array)); }
  Term load(const Array* array, const Expression* index, int lanes = 1) {
    return term(module_.expressions().load(array, index, lanes).value());
  }
  Term variable(const Variable* variable) { return term(module_.expressions().variable(variable)); }
  Term let(std::string name, const Expression* value) {
    return variable(declare(std::move(name), value));
  }
  Term var(std::string name, const Expression* value) {
    return variable(declare_mutable(std::move(name), value));
  }
  void set(Term variable, const Expression* value) {
    must(assign(variable.expression->variable, value));
  }
  void put(const Array* array, const Expression* index, const Expression* value) {
    must(store(array, index, value));
  }
  void when(const Expression* condition) { must(begin_if(condition)); }
  void loop_while(const Expression* condition) { must(begin_while(condition)); }
  Term loop(std::string name, Term from, Term to, Term step) {
    return variable(begin_for(std::move(name), from, to, step).value());
  }
  void leave() { must(break_loop()); }
  void next() { must(continue_loop()); }
  Term shuffled(ShuffleKind kind, const Expression* value, const Expression* amount) {
    return variable(shuffle("shuffled", kind, value, amount).value());
  }
  Term balloted(const Expression* condition) {
    return variable(ballot("votes", condition).value());
  }
  Term reduced(Reduce::Scope scope, ReduceOperator op, const Expression* value) {
    return variable(reduce("reduced", scope, op, value).value());
  }

 private:
  static void must(const Status& status) {
    if (!status) throw std::runtime_error(status.error().message);
  }
};

}  // namespace hoist::ir
