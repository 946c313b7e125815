// Expressions as text of C++ and CUDA alike, with the operators of px/emit/prelude.h.
#pragma once

#include <string>

#include "ir/expression.h"

namespace hoist::px {

// What depends on where the expression stands.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::string variable(const ir::Variable* variable) const = 0;
  virtual std::string parameter(const ir::Parameter* parameter) const = 0;
  virtual std::string id(ir::Id id, int dimension) const = 0;
  // A pointer to the array's first element, as a primary expression.
  virtual std::string array(const ir::Array* array) const = 0;
  // Its length as an i64.
  virtual std::string length(const ir::Array* array) const = 0;
  // The call that loads where bounds are checked, empty where they are not: "check.load(" and all
  // that comes before ")". `index` is the index's text.
  virtual std::string checked_load(const ir::Expression& load, const std::string& index) const = 0;

  // What comes before the arguments of a module's own function: "check" where bounds are checked.
  virtual std::string first_argument() const = 0;

  // How an i32 result may be computed.
  enum class Wrap { may, never, never_near };
  // never_near: not where thread ids are below kNear.
  virtual Wrap wrap(const ir::Expression& expression) const = 0;
};

// "i32"; bool is u8 in memory.
std::string type_name(ir::Type type);
std::string element_name(ir::Scalar element);

std::string constant_text(ir::Scalar type, uint64_t bits);
std::string expression_text(const ir::Expression& expression, const Scope& scope);
// The lane that a shuffle reads from; `own` is the thread's.
std::string shuffle_lane(ir::ShuffleKind kind, const std::string& own, const std::string& amount);

}  // namespace hoist::px
