// Which values and which control flow are uniform: the same for all threads of a block.
//
// Collective statements (ir/statement.h) must be reached by all threads of a block together. The
// analysis follows values: parameters, lengths, block ids and sizes are uniform, thread ids are
// not; an expression is where its operands are; a variable is where all that it is given is, under
// uniform control. A load is uniform where its index is, from shared memory, tables and `in`
// arrays: a kernel in which threads read what others write without a barrier between has no meaning
// anyway. What a block reduces to is uniform; shuffles, ballots and what atomics give are not.
//
// Control is not uniform under a condition that is not, behind a `return` under such a one, in a
// loop that some threads may leave earlier, and behind a `continue` for the rest of the turn.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/module.h"

namespace hoist::ir {

// What is wrong, and where. `cause`: the place that makes it so, where there is one.
struct Problem {
  Place place;
  std::string message;
  Place cause = {};

  friend bool operator==(const Problem&, const Problem&) = default;
};

class Uniformity {
 public:
  explicit Uniformity(const Kernel& kernel);

  bool is_uniform(const Expression& expression) const;
  bool is_uniform(const Variable* variable) const { return !divergent_.contains(variable); }

  // Whether all threads of the block come to the statement together.
  bool is_reached_together(const Statement& statement) const {
    return !apart_.contains(&statement);
  }

  // The collective statements that threads may not reach together.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  // Where control became divergent.
  struct Control {
    bool is_uniform = true;
    Place cause = {};
  };
  // How threads may leave a statement while others stay.
  struct Exits {
    bool leaves_turn = false;
    bool leaves_loop = false;
    bool returns = false;
    Place cause = {};

    void merge(const Exits& other);
  };

  Exits walk(const Block& block, Control control);
  Exits walk(const Statement& statement, const Control& control);
  Exits walk_loop(const Statement& statement, const Block& body, const Variable* counter,
                  bool is_uniform, Control control);
  void give(const Variable* variable, bool is_uniform);
  void check_collective(const Statement& statement, const Control& control);

  std::set<const Variable*> divergent_;
  std::set<const Statement*> divergent_loops_;
  std::set<const Statement*> apart_;  // under divergent control
  std::vector<Problem> problems_;
  bool changed_ = false;
};

}  // namespace hoist::ir
