// The statements of a kernel or function as text: what C++ and CUDA have in common. Each target
// derives from it, and says how its threads know themselves and work together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/module.h"
#include "px/emit/expression_text.h"
#include "px/emit/lines.h"
#include "px/emit/names.h"
#include "px/emit/range.h"
#include "px/emit/sites.h"

namespace hoist::px {

// Thread ids below this are near: sums and products of them seldom wrap.
inline constexpr int64_t kNear = int64_t{1} << 28;

class Body : public Scope {
 public:
  // `sites`: accesses are checked, and numbered there; null: they are not.
  Body(Lines& lines, Names& names, Sites* sites) : lines_(lines), names_(names), sites_(sites) {}

  void block(std::span<const ir::Statement> block);

  std::string variable(const ir::Variable* variable) const override { return names_.of(variable); }
  std::string parameter(const ir::Parameter* parameter) const override {
    return names_.of(parameter);
  }
  std::string array(const ir::Array* array) const override { return names_.of(array); }
  std::string length(const ir::Array* array) const override;
  std::string checked_load(const ir::Expression& load, const std::string& index) const override;
  std::string first_argument() const override { return sites_ ? "check" : ""; }
  Wrap wrap(const ir::Expression& expression) const override;

 protected:
  std::string text(const ir::Expression* expression) const {
    return expression_text(*expression, *this);
  }
  // From now on the kernel's ranges are known; `near`: the code stands in a template of kNear.
  void know_ranges(const ir::Kernel& kernel, bool near);

  virtual void statement(const ir::Statement& statement);
  // "const i32 v = value;", or what else gives a new variable its value.
  virtual void declare(const ir::Variable* variable, const std::string& value);
  virtual void collective(const ir::Statement& statement) = 0;
  // Where the thread's part of a kernel ends. `in_loop`: in a loop of the kernel's.
  virtual void return_thread(bool in_loop) = 0;
  // The namespace of atomic functions for the array.
  virtual std::string atomics(const ir::Array* array) const = 0;

  void loop_body(const ir::Block& body);
  // The loops of the kernel's that are open here.
  int loops() const { return loops_; }
  void store(const ir::Store& store);
  void atomic(const ir::Atomic& atomic);
  // The head of the loop, down to its open brace; the tail that goes behind the closing one.
  std::string begin_for(const ir::For& loop);

  Lines& lines_;
  Names& names_;
  Sites* const sites_;
  ir::Place place_;

 private:
  uint32_t site(const ir::Array* array) const;

  int loops_ = 0;
  std::optional<Ranges> far_;
  std::optional<Ranges> near_;
};

// A local, shared or constant array's declaration without its initialiser, aligned for vectors:
// "alignas(16) constexpr u8 v_tile[64]".
std::string array_declaration(const ir::Array& array, std::string_view qualifier,
                              const Names& names);
// " = {1, 2, …}"
std::string table_initialiser(const ir::Array& table);

// What a reduction applies, as a lambda of two values: "[](i32 a, i32 b) { return sum(a, b); }".
std::string combination(ir::ReduceOperator op, const std::string& type);

// The module's functions.
void emit_functions(const ir::Module& module, Sites* sites, Lines& lines);

}  // namespace hoist::px
