#include "px/emit/block_plan.h"

#include <algorithm>
#include <functional>

#include "ir/walk.h"

namespace hoist::px {
namespace {

using ir::Expression;
using ir::Statement;
using Kind = Expression::Kind;

constexpr int kCheapNodes = 8;

// The exits of a statement that lead out of it.
void for_each_exit(const Statement& statement, const std::function<void(const Statement&)>& use,
                   bool in_loop = false) {
  const auto search = [&](const ir::Block& block, bool inside) {
    for (const Statement& each : block) for_each_exit(each, use, inside);
  };
  ir::match(
      statement,
      [&](const ir::If& s) {
        search(s.then, in_loop);
        search(s.otherwise, in_loop);
      },
      [&](const ir::For& s) { search(s.body, true); },
      [&](const ir::While& s) { search(s.body, true); }, [&](const ir::Return&) { use(statement); },
      [&](const ir::Break&) {
        if (!in_loop) use(statement);
      },
      [&](const ir::Continue&) {
        if (!in_loop) use(statement);
      },
      [](const auto&) {});
}

bool has_collective(const Statement& statement) {
  return ir::match(
      statement,
      [](const ir::If& s) { return ir::has_collective(s.then) || ir::has_collective(s.otherwise); },
      [](const ir::For& s) { return ir::has_collective(s.body); },
      [](const ir::While& s) { return ir::has_collective(s.body); },
      [&](const auto&) { return ir::is_collective(statement); });
}

// Whether the value is the same at any time of a launch.
bool is_stable(const Expression& e) {
  if (e.kind == Kind::load && e.array->space != ir::Space::constant &&
      !(e.array->space == ir::Space::global && e.array->direction == ir::Direction::in)) {
    return false;
  }
  return std::ranges::all_of(e.operands, [](const auto* operand) { return is_stable(*operand); });
}

void for_each_variable(const Expression& expression,
                       const std::function<void(const ir::Variable*)>& use) {
  ir::for_each_node(expression, [&](const Expression& e) {
    if (e.kind == Kind::variable) use(e.variable);
  });
}

const Expression* declared_value(const Statement& statement) {
  const auto* declared = std::get_if<ir::Declare>(&statement.node);
  return declared && !declared->variable->is_mutable ? declared->value : nullptr;
}

}  // namespace

BlockPlan::BlockPlan(const ir::Kernel& kernel) : kernel_(kernel), uniformity_(kernel) {
  // What control flow around steps needs is shared; what assigns it stands around steps itself.
  do {
    steps_ = cut(kernel.body);
  } while (learn_shared(steps_));
  ir::for_each_statement(kernel.body, [&](const Statement& statement) {
    if (const Expression* value = declared_value(statement)) {
      values_[ir::declared_by(statement)] = value;
    }
  });
  count_uses(steps_, false);
  choose_storage();
}

BlockPlan::Storage BlockPlan::storage(const ir::Variable* variable) const {
  if (shared_.contains(variable)) return Storage::shared;
  if (rebuilt_.contains(variable)) return Storage::rebuilt;
  return kept_set_.contains(variable) ? Storage::kept : Storage::plain;
}

bool BlockPlan::assigns_shared(const Statement& statement) const {
  const auto assigns = [&](const Statement& each) {
    const auto* assign = std::get_if<ir::Assign>(&each.node);
    return assign && shared_.contains(assign->variable);
  };
  bool found = assigns(statement);
  const auto search = [&](const ir::Block& block) {
    ir::for_each_statement(block, [&](const Statement& each) { found |= assigns(each); });
  };
  ir::match(
      statement,
      [&](const ir::If& s) {
        search(s.then);
        search(s.otherwise);
      },
      [&](const ir::For& s) { search(s.body); }, [&](const ir::While& s) { search(s.body); },
      [](const auto&) {});
  return found;
}

bool BlockPlan::stands_around_steps(const Statement& statement) const {
  if (has_collective(statement) || assigns_shared(statement)) return true;
  bool leaves = false;
  bool leaves_apart = false;
  for_each_exit(statement, [&](const Statement& exit) {
    (uniformity_.is_reached_together(exit) ? leaves : leaves_apart) = true;
  });
  return leaves && !leaves_apart;
}

bool BlockPlan::is_shared_value(const Statement& statement, const ir::Declare& declared) const {
  if (shared_.contains(declared.variable)) return true;
  if (declared.variable->is_mutable || declared.variable->type.is_vector()) return false;
  // Where some threads are gone, perhaps all are: then nobody may evaluate it.
  if (!uniformity_.is_reached_together(statement)) return false;
  if (!uniformity_.is_uniform(*declared.value) || !is_stable(*declared.value)) return false;
  bool can = true;
  for_each_variable(*declared.value,
                    [&](const ir::Variable* variable) { can &= shared_.contains(variable); });
  return can;
}

std::vector<Step> BlockPlan::cut(const ir::Block& block) {
  std::vector<Step> steps;
  bool is_open = false;  // whether the last step takes more statements of threads
  const auto add = [&](Step::Kind kind, const Statement& statement) -> Step& {
    is_open = false;
    return steps.emplace_back(Step{kind, {&statement}, {}, {}});
  };
  for (const Statement& statement : block) {
    const auto* declared = std::get_if<ir::Declare>(&statement.node);
    if (declared && is_shared_value(statement, *declared)) {
      shared_.insert(declared->variable);
      const bool may_go_before =
          is_open && !declared->variable->is_mutable && is_stable(*declared->value);
      const Step step = {Step::Kind::uniform, {&statement}, {}, {}};
      steps.insert(may_go_before ? steps.end() - 1 : steps.end(), step);
      is_open = may_go_before;
      continue;
    }
    if (!stands_around_steps(statement)) {
      if (!is_open)
        add(Step::Kind::threads, statement);
      else
        steps.back().statements.push_back(&statement);
      is_open = true;
      continue;
    }
    ir::match(
        statement, [&](const ir::Barrier&) { is_open = false; },
        [&](const ir::If& s) {
          Step& step = add(Step::Kind::branch, statement);
          step.body = cut(s.then);
          step.otherwise = cut(s.otherwise);
        },
        [&](const ir::For& s) {
          shared_.insert(s.variable);
          add(Step::Kind::for_loop, statement).body = cut(s.body);
        },
        [&](const ir::While& s) { add(Step::Kind::while_loop, statement).body = cut(s.body); },
        [&](const auto&) {
          add(ir::is_collective(statement) ? Step::Kind::collective : Step::Kind::uniform,
              statement);
        });
    const auto* reduce = std::get_if<ir::Reduce>(&statement.node);
    if (reduce && reduce->scope == ir::Reduce::Scope::block) shared_.insert(reduce->result);
  }
  return steps;
}

bool BlockPlan::share(const Expression& expression) {
  bool changed = false;
  for_each_variable(expression, [&](const ir::Variable* variable) {
    changed |= shared_.insert(variable).second;
  });
  return changed;
}

bool BlockPlan::learn_shared(const std::vector<Step>& steps) {
  bool changed = false;
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::threads || step.kind == Step::Kind::collective) continue;
    ir::match(
        step.statement(), [&](const ir::If& s) { changed |= share(*s.condition); },
        [&](const ir::For& s) {
          changed |= share(*s.from);
          changed |= share(*s.to);
          changed |= share(*s.step);
        },
        [&](const ir::While& s) { changed |= share(*s.condition); },
        [&](const ir::Declare& s) { changed |= share(*s.value); },
        [&](const ir::Assign& s) { changed |= share(*s.value); }, [](const auto&) {});
    changed |= learn_shared(step.body);
    changed |= learn_shared(step.otherwise);
  }
  return changed;
}

void BlockPlan::count_uses(const std::vector<Step>& steps, bool in_loop) {
  for (const Step& step : steps) {
    switch (step.kind) {
      case Step::Kind::threads:
        for (const Statement* statement : step.statements) use(*statement, step_count_, in_loop);
        ++step_count_;
        break;
      case Step::Kind::collective:
        use(step.statement(), step_count_, in_loop);
        // The result comes into being behind the loop that collects.
        uses_[ir::declared_by(step.statement())].insert(++step_count_);
        ++step_count_;
        break;
      default:
        break;
    }
    const bool inside =
        in_loop || step.kind == Step::Kind::for_loop || step.kind == Step::Kind::while_loop;
    count_uses(step.body, inside);
    count_uses(step.otherwise, inside);
  }
}

void BlockPlan::use(const Statement& statement, int step, bool in_loop) {
  const auto use_array = [&](const ir::Array* array) {
    if (array->space != ir::Space::local) return;
    array_uses_[array].insert(step);
    if (in_loop) looped_arrays_.insert(array);
  };
  const auto use_nodes = [&](const Expression& whole) {
    ir::for_each_node(whole, [&](const Expression& e) {
      if (e.kind == Kind::variable) uses_[e.variable].insert(step);
      if (e.kind == Kind::load) use_array(e.array);
    });
  };
  const auto use_one = [&](const Statement& each) {
    ir::for_each_expression(each, use_nodes);
    if (ir::is_collective(each)) return;
    if (const ir::Variable* variable = ir::declared_by(each)) uses_[variable].insert(step);
    if (const auto* assign = std::get_if<ir::Assign>(&each.node)) {
      uses_[assign->variable].insert(step);
    }
    if (const auto* store = std::get_if<ir::Store>(&each.node)) use_array(store->array);
  };
  use_one(statement);
  const auto use_block = [&](const ir::Block& block) { ir::for_each_statement(block, use_one); };
  ir::match(
      statement,
      [&](const ir::If& s) {
        use_block(s.then);
        use_block(s.otherwise);
      },
      [&](const ir::For& s) { use_block(s.body); }, [&](const ir::While& s) { use_block(s.body); },
      [](const auto&) {});
  for_each_exit(statement, [&](const Statement&) { marks_gone_ = true; });
}

bool BlockPlan::is_cheap(const Expression& e, int& nodes) const {
  if (e.has_load || e.kind == Kind::call || e.kind == Kind::builtin || ++nodes > kCheapNodes) {
    return false;
  }
  if (e.kind == Kind::variable) {
    if (shared_.contains(e.variable)) return !e.variable->is_mutable;
    const auto found = values_.find(e.variable);
    return found != values_.end() && is_cheap(*found->second, nodes);
  }
  return std::ranges::all_of(e.operands,
                             [&](const auto* operand) { return is_cheap(*operand, nodes); });
}

void BlockPlan::choose_storage() {
  for (const ir::Variable& variable : kernel_.variables) {
    const auto used = uses_.find(&variable);
    if (used == uses_.end() || used->second.size() < 2 || shared_.contains(&variable)) continue;
    const auto value = values_.find(&variable);
    int nodes = 0;
    if (value != values_.end() && is_cheap(*value->second, nodes)) {
      rebuilt_.insert(&variable);
    } else {
      kept_.push_back(&variable);
      kept_set_.insert(&variable);
    }
  }
  // What is rebuilt is made of what is, too, even where that is used in one step alone.
  bool changed = true;
  while (changed) {
    changed = false;
    for (const ir::Variable* variable : std::set(rebuilt_)) {
      for_each_variable(*values_.at(variable), [&](const ir::Variable* part) {
        if (!shared_.contains(part)) changed |= rebuilt_.insert(part).second;
      });
    }
  }
  for (const auto& [array, steps] : array_uses_) {
    if (steps.size() > 1 || looped_arrays_.contains(array)) kept_arrays_.insert(array);
  }
}

std::vector<const ir::Variable*> BlockPlan::rebuilt_in(const Step& step) const {
  std::vector<const ir::Variable*> order;
  std::set<const ir::Variable*> seen;
  const std::function<void(const ir::Variable*)> need = [&](const ir::Variable* variable) {
    if (!rebuilt_.contains(variable) || !seen.insert(variable).second) return;
    for_each_variable(*values_.at(variable), need);
    order.push_back(variable);
  };
  const auto look = [&](const Statement& statement) {
    // Declared here: the statement itself does it.
    if (const ir::Variable* declared = ir::declared_by(statement)) seen.insert(declared);
    ir::for_each_expression(statement,
                            [&](const Expression& whole) { for_each_variable(whole, need); });
  };
  for (const Statement* statement : step.statements) {
    look(*statement);
    if (step.kind != Step::Kind::threads) continue;
    ir::match(
        *statement,
        [&](const ir::If& s) {
          ir::for_each_statement(s.then, look);
          ir::for_each_statement(s.otherwise, look);
        },
        [&](const ir::For& s) { ir::for_each_statement(s.body, look); },
        [&](const ir::While& s) { ir::for_each_statement(s.body, look); }, [](const auto&) {});
  }
  return order;
}

}  // namespace hoist::px
