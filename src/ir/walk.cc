#include "ir/walk.h"

namespace hoist::ir {

void for_each_statement(std::span<const Statement> block,
                        const std::function<void(const Statement&)>& use) {
  for (const Statement& statement : block) {
    use(statement);
    match(
        statement,
        [&](const If& branch) {
          for_each_statement(branch.then, use);
          for_each_statement(branch.otherwise, use);
        },
        [&](const For& loop) { for_each_statement(loop.body, use); },
        [&](const While& loop) { for_each_statement(loop.body, use); }, [](const auto&) {});
  }
}

void for_each_expression(const Statement& statement,
                         const std::function<void(const Expression&)>& use) {
  match(
      statement, [&](const Declare& s) { use(*s.value); }, [&](const Assign& s) { use(*s.value); },
      [&](const Store& s) {
        use(*s.index);
        use(*s.value);
      },
      [&](const If& s) { use(*s.condition); },
      [&](const For& s) {
        use(*s.from);
        use(*s.to);
        use(*s.step);
      },
      [&](const While& s) { use(*s.condition); },
      [&](const Return& s) {
        if (s.value) use(*s.value);
      },
      [&](const Shuffle& s) {
        use(*s.value);
        use(*s.amount);
      },
      [&](const Ballot& s) { use(*s.condition); }, [&](const Reduce& s) { use(*s.value); },
      [&](const Atomic& s) {
        use(*s.index);
        use(*s.value);
        if (s.comparand) use(*s.comparand);
      },
      [](const auto&) {});
}

void for_each_node(const Expression& expression,
                   const std::function<void(const Expression&)>& use) {
  use(expression);
  for (const Expression* operand : expression.operands) for_each_node(*operand, use);
}

void for_each_node(std::span<const Statement> block,
                   const std::function<void(const Expression&)>& use) {
  for_each_statement(block, [&](const Statement& statement) {
    for_each_expression(statement, [&](const Expression& whole) { for_each_node(whole, use); });
  });
}

std::set<const Array*> vector_arrays(const Kernel& kernel) {
  std::set<const Array*> found;
  for_each_node(kernel.body, [&](const Expression& e) {
    if (e.kind == Expression::Kind::load && e.type.is_vector()) found.insert(e.array);
  });
  for_each_statement(kernel.body, [&](const Statement& statement) {
    const auto* store = std::get_if<Store>(&statement.node);
    if (store && store->value->type.is_vector()) found.insert(store->array);
  });
  return found;
}

}  // namespace hoist::ir
