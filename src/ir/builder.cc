#include "ir/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace hoist::ir {
namespace {

template <typename... Arguments>
Error refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return fail(ErrorCode::invalid_argument,
              fmt::format(format, std::forward<Arguments>(arguments)...));
}

Status check_condition(const Expression* condition) {
  if (condition->type == Scalar::boolean) return {};
  return refuse("a condition is bool, not {}", name(condition->type));
}

Status check_index(const Expression* index) {
  if (!index->type.is_vector() && is_integer(index->type.scalar)) return {};
  return refuse("an index is an integer, not {}", name(index->type));
}

bool is_wide(Scalar type) { return is_integer(type) && bits(type) >= 32; }
bool is_wide_float(Scalar type) { return is_float(type) && bits(type) >= 32; }

bool takes(AtomicOperator op, Scalar type) {
  return is_wide(type) || (op == AtomicOperator::add && is_wide_float(type));
}

bool takes(ReduceOperator op, Scalar type) {
  return is_wide(type) || (op <= ReduceOperator::maximum && is_wide_float(type));
}

}  // namespace

const Array* BodyBuilder::local_array(std::string name, Scalar element, uint64_t count) {
  return new_array({std::move(name), element, Space::local, Direction::inout, count, {}});
}

const Variable* BodyBuilder::new_variable(std::string name, Type type, bool is_mutable) {
  return &variables_.emplace_back(Variable{std::move(name), type, is_mutable});
}

void BodyBuilder::append(decltype(Statement::node) node) {
  open_.back().block->push_back({place_, std::move(node)});
}

const Variable* BodyBuilder::declare(std::string name, const Expression* value) {
  const Variable* variable = new_variable(std::move(name), value->type);
  append(Declare{variable, value});
  return variable;
}

const Variable* BodyBuilder::declare_mutable(std::string name, const Expression* value) {
  const Variable* variable = new_variable(std::move(name), value->type, true);
  append(Declare{variable, value});
  return variable;
}

Status BodyBuilder::assign(const Variable* variable, const Expression* value) {
  if (!variable->is_mutable) return refuse("{} cannot be assigned", variable->name);
  if (variable->type != value->type) {
    return refuse("{} is {}, not {}", variable->name, name(variable->type), name(value->type));
  }
  append(Assign{variable, value});
  return {};
}

Status BodyBuilder::store(const Array* array, const Expression* index, const Expression* value) {
  if (Status is_index = check_index(index); !is_index) return is_index;
  if (value->type.scalar != array->element) {
    return refuse("{} has elements of {}, not {}", array->name, name(array->element),
                  name(value->type));
  }
  append(Store{array, index, value});
  return {};
}

Status BodyBuilder::begin_if(const Expression* condition) {
  if (Status is_condition = check_condition(condition); !is_condition) return is_condition;
  append(If{condition, {}, {}});
  open_.push_back({Frame::branch, &std::get<If>(last().node).then});
  return {};
}

void BodyBuilder::begin_else() {
  open_.pop_back();
  open_.push_back({Frame::branch, &std::get<If>(last().node).otherwise});
}

Result<const Variable*> BodyBuilder::begin_for(std::string name, const Expression* from,
                                               const Expression* to, const Expression* step) {
  const Type type = from->type;
  if (type.is_vector() || !is_integer(type.scalar)) {
    return refuse("a loop counts in integers, not in {}", ir::name(type));
  }
  if (to->type != type || step->type != type) {
    return refuse("a loop's bounds and step have one type, not {}, {} and {}", ir::name(type),
                  ir::name(to->type), ir::name(step->type));
  }
  const Variable* variable = new_variable(std::move(name), type);
  append(For{variable, from, to, step, {}});
  open_.push_back({Frame::loop, &std::get<For>(last().node).body});
  return variable;
}

Status BodyBuilder::begin_while(const Expression* condition) {
  if (Status is_condition = check_condition(condition); !is_condition) return is_condition;
  append(While{condition, {}});
  open_.push_back({Frame::loop, &std::get<While>(last().node).body});
  return {};
}

void BodyBuilder::end() { open_.pop_back(); }

bool BodyBuilder::is_in_loop() const {
  return std::ranges::any_of(open_, [](const Frame& frame) { return frame.kind == Frame::loop; });
}

Status BodyBuilder::break_loop() {
  if (!is_in_loop()) return refuse("there is no loop to leave");
  append(Break{});
  return {};
}

Status BodyBuilder::continue_loop() {
  if (!is_in_loop()) return refuse("there is no loop to continue");
  append(Continue{});
  return {};
}

Statement& BodyBuilder::last() { return open_.back().block->back(); }

KernelBuilder::KernelBuilder(Module& module, std::string name, Place place)
    : KernelBuilder(module, std::make_unique<Kernel>()) {
  kernel_->name = std::move(name);
  kernel_->place = place;
}

KernelBuilder::KernelBuilder(Module& module, std::unique_ptr<Kernel> kernel)
    : BodyBuilder(module, kernel->body, kernel->variables, kernel->arrays),
      kernel_(std::move(kernel)) {}

const Array* KernelBuilder::array(std::string name, Scalar element, Direction direction,
                                  bool may_be_another) {
  const Array* made =
      new_array({std::move(name), element, Space::global, direction, 0, {}, may_be_another});
  kernel_->arguments.push_back({.array = made});
  return made;
}

const Parameter* KernelBuilder::parameter(std::string name, Scalar type) {
  const Parameter* made = &kernel_->scalars.emplace_back(Parameter{std::move(name), type});
  kernel_->arguments.push_back({.scalar = made});
  return made;
}

const Array* KernelBuilder::shared_array(std::string name, Scalar element, uint64_t count) {
  return new_array({std::move(name), element, Space::shared, Direction::inout, count, {}});
}

Result<const Variable*> KernelBuilder::shuffle(std::string name, ShuffleKind kind,
                                               const Expression* value, const Expression* amount) {
  if (value->type.is_vector() || value->type == Scalar::boolean) {
    return refuse("a shuffle does not take {}", ir::name(value->type));
  }
  if (amount->type != Scalar::i32) {
    return refuse("a shuffle goes by an i32, not by {}", ir::name(amount->type));
  }
  const Variable* result = new_variable(std::move(name), value->type);
  append(Shuffle{result, kind, value, amount});
  return result;
}

Result<const Variable*> KernelBuilder::ballot(std::string name, const Expression* condition) {
  if (Status is_condition = check_condition(condition); !is_condition) return is_condition.error();
  const Variable* result = new_variable(std::move(name), Scalar::u32);
  append(Ballot{result, condition});
  return result;
}

Result<const Variable*> KernelBuilder::reduce(std::string name, Reduce::Scope scope,
                                              ReduceOperator op, const Expression* value) {
  if (value->type.is_vector() || !takes(op, value->type.scalar)) {
    return refuse("a reduction by {} does not take {}", ir::name(op), ir::name(value->type));
  }
  const Variable* result = new_variable(std::move(name), value->type);
  append(Reduce{result, scope, op, value});
  return result;
}

Result<const Variable*> KernelBuilder::atomic(std::string name, AtomicOperator op,
                                              const Array* array, const Expression* index,
                                              const Expression* value,
                                              const Expression* comparand) {
  if (Status is_index = check_index(index); !is_index) return is_index.error();
  if (!takes(op, array->element)) {
    return refuse("an atomic {} does not take {}", ir::name(op), ir::name(array->element));
  }
  if (value->type != array->element) {
    return refuse("{} has elements of {}, not {}", array->name, ir::name(array->element),
                  ir::name(value->type));
  }
  if ((op == AtomicOperator::compare_exchange) != (comparand != nullptr) ||
      (comparand && comparand->type != array->element)) {
    return refuse("an atomic compare_exchange, and no other, takes a value to compare with");
  }
  const Variable* old = name.empty() ? nullptr : new_variable(std::move(name), array->element);
  append(Atomic{old, op, array, index, value, comparand});
  return old;
}

const Kernel* KernelBuilder::finish() { return module_.add(std::move(kernel_)); }

FunctionBuilder::FunctionBuilder(Module& module, std::string name, Scalar result, Place place)
    : FunctionBuilder(module, std::make_unique<Function>()) {
  function_->name = std::move(name);
  function_->result = result;
  function_->place = place;
}

FunctionBuilder::FunctionBuilder(Module& module, std::unique_ptr<Function> function)
    : BodyBuilder(module, function->body, function->variables, function->arrays),
      function_(std::move(function)) {}

const Parameter* FunctionBuilder::parameter(std::string name, Scalar type) {
  const Parameter* made =
      &function_->parameters_storage.emplace_back(Parameter{std::move(name), type});
  function_->parameters.push_back(made);
  return made;
}

Status FunctionBuilder::return_value(const Expression* value) {
  if (value->type != function_->result) {
    return refuse("{} gives {}, not {}", function_->name, name(function_->result),
                  name(value->type));
  }
  append(Return{value});
  return {};
}

const Function* FunctionBuilder::finish() { return module_.add(std::move(function_)); }

}  // namespace hoist::ir
