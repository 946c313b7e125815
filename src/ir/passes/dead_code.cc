#include "ir/passes/dead_code.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "ir/passes/simplify.h"
#include "ir/walk.h"

namespace hoist::ir {
namespace {

bool is_exit(const Statement& statement) {
  return std::holds_alternative<Return>(statement.node) ||
         std::holds_alternative<Break>(statement.node) ||
         std::holds_alternative<Continue>(statement.node);
}

// What is read, or given a value that may fault: the latter stays, and so does all that it is
// given.
std::set<const Variable*> needed_variables(const Block& body) {
  std::set<const Variable*> needed;
  for_each_node(body, [&](const Expression& e) {
    if (e.kind == Expression::Kind::variable) needed.insert(e.variable);
  });
  for_each_statement(body, [&](const Statement& statement) {
    const auto* declare = std::get_if<Declare>(&statement.node);
    const auto* assign = std::get_if<Assign>(&statement.node);
    if (declare && may_fault(*declare->value)) needed.insert(declare->variable);
    if (assign && may_fault(*assign->value)) needed.insert(assign->variable);
  });
  return needed;
}

class Cleaner {
 public:
  explicit Cleaner(std::set<const Variable*> needed) : needed_(std::move(needed)) {}

  bool clean(Block& block) {
    const size_t before = block.size();
    bool changed = false;
    Block kept;
    for (Statement& statement : block) {
      changed |= clean_inside(statement);
      if (is_needless(statement)) continue;
      if (Block* taken = taken_branch(statement)) {
        changed = true;
        std::ranges::move(Block(std::move(*taken)), std::back_inserter(kept));
      } else {
        kept.push_back(std::move(statement));
      }
      if (!kept.empty() && is_exit(kept.back())) break;
    }
    changed |= kept.size() != before;
    block = std::move(kept);
    return changed;
  }

 private:
  bool clean_inside(Statement& statement) {
    if (auto* branch = std::get_if<If>(&statement.node)) {
      const bool changed = clean(branch->then);
      return clean(branch->otherwise) || changed;
    }
    if (auto* loop = std::get_if<For>(&statement.node)) return clean(loop->body);
    if (auto* loop = std::get_if<While>(&statement.node)) return clean(loop->body);
    if (auto* atomic = std::get_if<Atomic>(&statement.node)) {
      if (atomic->old && !needed_.contains(atomic->old)) {
        atomic->old = nullptr;
        return true;
      }
    }
    return false;
  }

  // The side that a known condition takes.
  static Block* taken_branch(Statement& statement) {
    auto* branch = std::get_if<If>(&statement.node);
    if (!branch || !branch->condition->is_constant()) return nullptr;
    return branch->condition->bits ? &branch->then : &branch->otherwise;
  }

  bool is_needless(const Statement& statement) const {
    const auto is_unread = [&](const Variable* variable) { return !needed_.contains(variable); };
    return match(
        statement, [&](const Declare& s) { return is_unread(s.variable); },
        [&](const Assign& s) { return is_unread(s.variable); },
        [&](const If& s) {
          return s.then.empty() && s.otherwise.empty() && !may_fault(*s.condition);
        },
        [&](const For& s) {
          const bool may = may_fault(*s.from) || may_fault(*s.to) || may_fault(*s.step);
          return s.body.empty() && !may;
        },
        [&](const While& s) { return s.condition->is_constant() && s.condition->bits == 0; },
        [&](const Shuffle& s) {
          return is_unread(s.result) && !may_fault(*s.value) && !may_fault(*s.amount);
        },
        [&](const Ballot& s) { return is_unread(s.result) && !may_fault(*s.condition); },
        [&](const Reduce& s) { return is_unread(s.result) && !may_fault(*s.value); },
        [](const auto&) { return false; });
  }

  const std::set<const Variable*> needed_;
};

}  // namespace

bool remove_dead_code(Block& body) { return Cleaner(needed_variables(body)).clean(body); }

}  // namespace hoist::ir
