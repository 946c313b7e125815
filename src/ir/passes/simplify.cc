#include "ir/passes/simplify.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/passes/dead_code.h"
#include "ir/passes/fold.h"
#include "ir/passes/identities.h"
#include "ir/walk.h"

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

// Rewrites the expressions of one body, from its beginning.
class Rewriter {
 public:
  explicit Rewriter(Expressions& make) : make_(make) {}

  bool rewrite(Block& block) {
    bool changed = false;
    for (Statement& statement : block) changed |= rewrite(statement);
    return changed;
  }

 private:
  bool rewrite(Statement& statement) {
    bool changed = false;
    const auto renew = [&](const Expression*& e) {
      if (!e) return;
      const Expression* made = simpler(e);
      changed |= made != e;
      e = made;
    };
    std::visit(
        Overloaded{[&](Declare& s) {
                     renew(s.value);
                     learn(s);
                   },
                   [&](Assign& s) { renew(s.value); },
                   [&](Store& s) {
                     renew(s.index);
                     renew(s.value);
                   },
                   [&](If& s) {
                     renew(s.condition);
                     changed |= rewrite(s.then);
                     changed |= rewrite(s.otherwise);
                   },
                   [&](For& s) {
                     renew(s.from);
                     renew(s.to);
                     renew(s.step);
                     changed |= rewrite(s.body);
                   },
                   [&](While& s) {
                     renew(s.condition);
                     changed |= rewrite(s.body);
                   },
                   [&](Return& s) { renew(s.value); },
                   [&](Shuffle& s) {
                     renew(s.value);
                     renew(s.amount);
                   },
                   [&](Ballot& s) { renew(s.condition); }, [&](Reduce& s) { renew(s.value); },
                   [&](Atomic& s) {
                     renew(s.index);
                     renew(s.value);
                     renew(s.comparand);
                   },
                   [](auto&) {}},
        statement.node);
    return changed;
  }

  // A variable that keeps a constant, or what another one keeps, is that.
  void learn(const Declare& s) {
    const bool is_kept = s.value->is_constant() ||
                         (s.value->kind == Kind::variable && !s.value->variable->is_mutable);
    if (!s.variable->is_mutable && is_kept) values_[s.variable] = s.value;
  }

  const Expression* simpler(const Expression* e) {
    const auto known = simpler_.find(e);
    if (known != simpler_.end()) return known->second;
    const Expression* made = compute(e);
    simpler_[e] = made;
    return made;
  }

  const Expression* compute(const Expression* e) {
    if (e->kind == Kind::variable) {
      const auto value = values_.find(e->variable);
      return value == values_.end() ? e : value->second;
    }
    std::vector<const Expression*> operands;
    for (const Expression* operand : e->operands) operands.push_back(simpler(operand));
    const Expression* made = make_.with_operands(e, std::move(operands));
    if (const Expression* constant = fold(make_, *made)) return constant;
    const Expression* other = apply_identities(make_, made);
    return other == made ? made : simpler(other);
  }

  Expressions& make_;
  std::map<const Variable*, const Expression*> values_;
  std::unordered_map<const Expression*, const Expression*> simpler_;
};

bool has_loads(const Function& function) {
  bool found = false;
  for_each_node(function.body, [&](const Expression& e) { found |= may_fault(e); });
  for_each_statement(function.body, [&](const Statement& statement) {
    found |= std::holds_alternative<Store>(statement.node);
  });
  return found;
}

}  // namespace

bool may_fault(const Expression& e) {
  if (e.kind == Kind::load) return true;
  if (e.kind == Kind::call && has_loads(*e.function)) return true;
  return std::ranges::any_of(e.operands, [](const auto* operand) { return may_fault(*operand); });
}

void simplify(Module& module) {
  module.for_each_body([&](Block& body) {
    bool changed = true;
    while (changed) {
      changed = Rewriter(module.expressions()).rewrite(body);
      changed |= remove_dead_code(body);
    }
  });
}

}  // namespace hoist::ir
