// Statements of the kernel IR: a tree of blocks, values that are copied and moved as such. Each has
// the place in the source that messages about it name.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "ir/expression.h"

namespace hoist::ir {

struct Statement;
using Block = std::vector<Statement>;

// The variable is in scope until the end of the block.
struct Declare {
  const Variable* variable;
  const Expression* value;
};
struct Assign {
  const Variable* variable;
  const Expression* value;
};
// As Expressions::load: a vector goes to elements from index * lanes.
struct Store {
  const Array* array;
  const Expression* index;
  const Expression* value;
};
struct If {
  const Expression* condition;
  Block then;
  Block otherwise;
};
// The variable takes from, from + step, … while it is below `to` (with a negative step: above it),
// and ends where the type does. All three are evaluated once, before. A step of 0: never.
struct For {
  const Variable* variable;
  const Expression* from;
  const Expression* to;
  const Expression* step;
  Block body;
};
struct While {
  const Expression* condition;
  Block body;
};
// Leaves the innermost loop, or goes to its next turn.
struct Break {};
struct Continue {};
// Ends the thread's part of a kernel. In a function it has a value.
struct Return {
  const Expression* value = nullptr;
};

// All threads of the block wait for one another here, and see what each has stored before. This and
// the three that follow are collective: all threads of a block must reach them together, so none
// may stand under a condition that differs between threads (ir/uniform.h).
struct Barrier {};
// A warp's threads exchange values. A lane that is not there, or is beyond the block's last thread,
// gives the thread its own value.
struct Shuffle {
  const Variable* result;  // declared here
  ShuffleKind kind;
  const Expression* value;
  const Expression* amount;  // i32
};
// Bit i is whether lane i has a true condition.
struct Ballot {
  const Variable* result;  // u32, declared here
  const Expression* condition;
};
// What all threads of the warp or the block make together; each gets it. The order is fixed: among
// 32 values, value i takes in i + 16, then i + 8, 4, 2, 1, as far as they are there; a block does
// so with the results of its warps.
struct Reduce {
  enum class Scope : uint8_t { warp, block };
  const Variable* result;  // declared here
  Scope scope;
  ReduceOperator op;
  const Expression* value;
};

// An element becomes old `op` value, as one step that no other thread sees half done; in global and
// shared arrays. Threads come in no order.
struct Atomic {
  const Variable* old = nullptr;  // what the element was, declared here; may be null
  AtomicOperator op;
  const Array* array;
  const Expression* index;
  const Expression* value;
  const Expression* comparand = nullptr;  // of compare_exchange
};

struct Statement {
  Place place;
  std::variant<Declare, Assign, Store, If, For, While, Break, Continue, Return, Barrier, Shuffle,
               Ballot, Reduce, Atomic>
      node;
};

// For std::visit.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

template <typename... Functions>
decltype(auto) match(const Statement& statement, Functions&&... functions) {
  return std::visit(Overloaded{std::forward<Functions>(functions)...}, statement.node);
}

inline bool is_collective(const Statement& statement) {
  return std::holds_alternative<Barrier>(statement.node) ||
         std::holds_alternative<Shuffle>(statement.node) ||
         std::holds_alternative<Ballot>(statement.node) ||
         std::holds_alternative<Reduce>(statement.node);
}
// Whether one is among them, or in a block below.
bool has_collective(const Block& block);

// The variable that a statement declares for those behind it in its block; null: none. (That of a
// For is known in its body alone.)
const Variable* declared_by(const Statement& statement);

}  // namespace hoist::ir
