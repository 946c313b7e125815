#include "ir/uniform.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

std::string_view name_of(const Statement& statement) {
  return match(
      statement, [](const Barrier&) { return "a barrier"; },
      [](const Shuffle&) { return "a shuffle"; }, [](const Ballot&) { return "a ballot"; },
      [](const Reduce&) { return "a reduction"; }, [](const auto&) { return "a statement"; });
}

bool is_uniform_source(const Array& array) {
  switch (array.space) {
    case Space::global:
      return array.direction == Direction::in;
    case Space::local:
      return false;
    case Space::shared:
    case Space::constant:
      break;
  }
  return true;
}

}  // namespace

void Uniformity::Exits::merge(const Exits& other) {
  if (cause == Place{}) cause = other.cause;
  leaves_turn |= other.leaves_turn;
  leaves_loop |= other.leaves_loop;
  returns |= other.returns;
}

// Values and control depend on one another: what is divergent only grows, until nothing changes.
Uniformity::Uniformity(const Kernel& kernel) {
  do {
    changed_ = false;
    problems_.clear();
    walk(kernel.body, {});
  } while (changed_);
}

bool Uniformity::is_uniform(const Expression& e) const {
  switch (e.kind) {
    case Kind::variable:
      return is_uniform(e.variable);
    case Kind::id:
      return e.id() != Id::thread && e.id() != Id::local && e.id() != Id::lane;
    case Kind::load:
      if (!is_uniform_source(*e.array)) return false;
      break;
    default:
      break;
  }
  return std::ranges::all_of(e.operands, [&](const auto* operand) { return is_uniform(*operand); });
}

void Uniformity::give(const Variable* variable, bool is_uniform) {
  if (variable && !is_uniform) changed_ |= divergent_.insert(variable).second;
}

void Uniformity::check_collective(const Statement& statement, const Control& control) {
  if (control.is_uniform) return;
  const std::string since =
      control.cause.line ? fmt::format(" (since line {})", control.cause.line) : std::string();
  problems_.push_back(
      {statement.place,
       fmt::format("{} where threads of a block may diverge{}", name_of(statement), since),
       control.cause});
}

Uniformity::Exits Uniformity::walk(const Block& block, Control control) {
  Exits exits;
  for (const Statement& statement : block) {
    exits.merge(walk(statement, control));
    if (control.is_uniform && (exits.leaves_turn || exits.leaves_loop || exits.returns)) {
      control = {false, exits.cause};
    }
  }
  return exits;
}

Uniformity::Exits Uniformity::walk(const Statement& statement, const Control& control) {
  if (!control.is_uniform) apart_.insert(&statement);
  if (is_collective(statement)) check_collective(statement, control);
  // Where all threads leave together, no thread is left behind.
  Exits leaves;
  leaves.cause = control.cause;
  const auto leave = [&](bool Exits::*how) {
    leaves.*how = !control.is_uniform;
    return leaves;
  };
  return match(
      statement,
      [&](const Declare& s) {
        give(s.variable, is_uniform(*s.value));
        return Exits{};
      },
      [&](const Assign& s) {
        give(s.variable, control.is_uniform && is_uniform(*s.value));
        return Exits{};
      },
      [&](const If& s) {
        Control inner = control;
        if (control.is_uniform && !is_uniform(*s.condition)) inner = {false, statement.place};
        Exits exits = walk(s.then, inner);
        exits.merge(walk(s.otherwise, inner));
        return exits;
      },
      [&](const For& s) {
        const bool together = is_uniform(*s.from) && is_uniform(*s.to) && is_uniform(*s.step);
        return walk_loop(statement, s.body, s.variable, together, control);
      },
      [&](const While& s) {
        return walk_loop(statement, s.body, nullptr, is_uniform(*s.condition), control);
      },
      [&](const Break&) { return leave(&Exits::leaves_loop); },
      [&](const Continue&) { return leave(&Exits::leaves_turn); },
      [&](const Return&) { return leave(&Exits::returns); },
      [&](const Reduce& s) {
        give(s.result, s.scope == Reduce::Scope::block);
        return Exits{};
      },
      [&](const auto&) {
        give(declared_by(statement), false);
        return Exits{};
      });
}

Uniformity::Exits Uniformity::walk_loop(const Statement& statement, const Block& body,
                                        const Variable* counter, bool is_uniform, Control control) {
  if (control.is_uniform && (!is_uniform || divergent_loops_.contains(&statement))) {
    control = {false, statement.place};
  }
  give(counter, control.is_uniform);
  const Exits inner = walk(body, control);
  if (inner.leaves_loop || inner.returns) changed_ |= divergent_loops_.insert(&statement).second;
  Exits exits;
  exits.returns = inner.returns;
  exits.cause = inner.cause;
  return exits;
}

}  // namespace hoist::ir
