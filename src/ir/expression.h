// Expressions of the kernel IR: typed, immutable, and hash-consed, so that equal expressions are
// one object and comparing them is comparing pointers. An Expressions owns them
// (Module::expressions) and makes them with every type checked:
//
//   Expressions& make = module.expressions();
//   Result<const Expression*> sum = make.binary(BinaryOperator::add, make.id(Id::thread), one);
//
// An expression says what to compute, not when: the statement that holds it evaluates it, with what
// its variables and arrays hold at that time. Evaluating changes nothing, and what is not needed is
// not evaluated: of a select only the chosen side, of `&` and `|` on bool the right side only where
// the left one does not decide. So a bounds check may stand before a load in one expression.
//
// Errors: `invalid_argument`, with the types in words: "+ takes two values of one type, not i32 and
// f32".
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ir/operators.h"
#include "ir/type.h"

namespace hoist::ir {

// The least and the most threads that work in step.
inline constexpr int kWarp = 32;

struct Place {
  uint32_t line = 0;  // from 1; 0: no place
  uint32_t column = 0;

  friend constexpr bool operator==(const Place&, const Place&) = default;
};

// Made by a builder, and owned by its kernel or function.
struct Variable {
  std::string name;
  Type type;
  bool is_mutable = false;  // may be assigned after its declaration
};

// A scalar parameter.
struct Parameter {
  std::string name;
  Type type;
};

enum class Space : uint8_t {
  global,    // a kernel's parameter; its length is known at the launch
  shared,    // one for the threads of a block; its content is undefined at first
  local,     // one for each thread, likewise
  constant,  // of the module
};
enum class Direction : uint8_t { in, out, inout };

struct Array {
  std::string name;
  Scalar element = Scalar::f32;
  Space space = Space::global;
  Direction direction = Direction::inout;  // of global ones
  uint64_t count = 0;                      // of the others
  std::vector<uint64_t> values;            // of constant ones, as bits
  // Global ones: others may be the same memory. Each thread reads all that it reads of them
  // before it writes, and nothing that other threads write.
  bool may_be_another = false;
};

struct Function;  // ir/module.h

struct Expression {
  enum class Kind : uint8_t {
    constant,   // `bits`
    parameter,  // `parameter`
    variable,   // `variable`
    id,         // id(), in `dimension`
    length,     // of `array`, in elements; i64
    load,       // `array`, operand 0: the index in units of the type's lanes
    unary,      // unary_operator()
    binary,     // binary_operator()
    compare,    // comparison()
    select,     // operand 0 ? operand 1 : operand 2
    cast,       // Expressions::cast
    bitcast,    // the same bits
    builtin,    // builtin()
    call,       // `function`
    lane,       // number `dimension` of a vector
    vector,     // of the operands
  };

  Kind kind = Kind::constant;
  Type type;
  uint8_t code = 0;  // of the operator, function or id
  uint8_t dimension = 0;
  bool has_load = false;  // here or below, other than of a constant array
  uint64_t bits = 0;
  const Parameter* parameter = nullptr;
  const Variable* variable = nullptr;
  const Array* array = nullptr;
  const Function* function = nullptr;
  std::vector<const Expression*> operands;

  Id id() const { return static_cast<Id>(code); }
  UnaryOperator unary_operator() const { return static_cast<UnaryOperator>(code); }
  BinaryOperator binary_operator() const { return static_cast<BinaryOperator>(code); }
  Comparison comparison() const { return static_cast<Comparison>(code); }
  Builtin builtin() const { return static_cast<Builtin>(code); }
  bool is_constant() const { return kind == Kind::constant; }
};

using ExpressionResult = Result<const Expression*>;

class Expressions {
 public:
  Expressions() = default;
  Expressions(const Expressions&) = delete;
  Expressions& operator=(const Expressions&) = delete;
  Expressions(Expressions&&) noexcept = default;
  Expressions& operator=(Expressions&&) noexcept = default;

  // The bits beyond the type's width are dropped.
  const Expression* constant(Scalar type, uint64_t bits);
  // A number as the type has it: an integer wraps, a float is rounded.
  const Expression* integer(Scalar type, int64_t value);
  const Expression* real(Scalar type, double value);
  const Expression* boolean(bool value) { return constant(Scalar::boolean, value ? 1 : 0); }

  const Expression* parameter(const Parameter* parameter);
  const Expression* variable(const Variable* variable);
  const Expression* id(Id id, int dimension = 0);
  const Expression* length(const Array* array);

  // Element `index`, of any integer type. With `lanes`, elements [index * lanes, (index + 1) *
  // lanes) as a vector.
  ExpressionResult load(const Array* array, const Expression* index, int lanes = 1);

  // Vectors have no arithmetic: it is done on their lanes.
  ExpressionResult unary(UnaryOperator op, const Expression* value);
  ExpressionResult binary(BinaryOperator op, const Expression* left, const Expression* right);
  ExpressionResult compare(Comparison comparison, const Expression* left, const Expression* right);
  ExpressionResult select(const Expression* condition, const Expression* yes, const Expression* no);
  // Integers wrap into integers; floats lose their fraction and saturate, NaN becomes 0; a float is
  // rounded to nearest even (to f16 and bf16 by way of f32); to bool: whether it is not 0 (a NaN is
  // not); from bool: 0 or 1.
  ExpressionResult cast(Scalar type, const Expression* value);
  // Between types of one width, bool excluded.
  ExpressionResult bitcast(Scalar type, const Expression* value);
  ExpressionResult builtin(Builtin builtin, std::span<const Expression* const> arguments);
  ExpressionResult call(const Function* function, std::span<const Expression* const> arguments);

  ExpressionResult lane(const Expression* vector, int number);
  // 2, 4, 8 or 16 values of one type.
  ExpressionResult vector(std::span<const Expression* const> values);

  // The expression with other operands of the same types: for passes.
  const Expression* with_operands(const Expression* expression,
                                  std::vector<const Expression*> operands);

  size_t size() const { return all_.size(); }

 private:
  const Expression* intern(Expression expression);

  std::deque<Expression> all_;
  std::unordered_multimap<uint64_t, const Expression*> by_hash_;
};

}  // namespace hoist::ir
