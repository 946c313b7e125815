#include "ir/statement.h"

#include <algorithm>

namespace hoist::ir {

bool has_collective(const Block& block) {
  return std::ranges::any_of(block, [](const Statement& statement) {
    return match(
        statement,
        [](const If& branch) {
          return has_collective(branch.then) || has_collective(branch.otherwise);
        },
        [](const For& loop) { return has_collective(loop.body); },
        [](const While& loop) { return has_collective(loop.body); },
        [&](const auto&) { return is_collective(statement); });
  });
}

const Variable* declared_by(const Statement& statement) {
  return match(
      statement, [](const Declare& node) { return node.variable; },
      [](const Shuffle& node) { return node.result; },
      [](const Ballot& node) { return node.result; },
      [](const Reduce& node) { return node.result; }, [](const Atomic& node) { return node.old; },
      [](const auto&) -> const Variable* { return nullptr; });
}

}  // namespace hoist::ir
