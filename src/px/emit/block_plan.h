// How a kernel whose threads work together runs on one core: its statements are cut into steps,
// each done for all threads of a block before the next one begins. Steps are
//
//   threads      statements without a collective one: a loop over the threads
//   collective   a shuffle, ballot or reduction: a loop that collects values, and what is made of
//   them uniform      a declaration or assignment of a variable that control flow around steps
//   needs, once
//                for the block; also an exit that all threads take together
//   branch, counting loop, while loop    around steps, with a condition that all threads share
//
// A barrier is where two steps meet. What a variable is kept in depends on who needs it:
//
//   shared    one for the block: what control flow around steps is made of (all threads agree on
//   it) rebuilt   computed anew in each step: cheap expressions of ids and parameters kept      an
//   array with an element for each thread: needed in more than one step plain     any other, a
//   variable in one step's loop
//
// Threads that return, or continue a loop around steps, on their own are marked as gone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "ir/module.h"
#include "ir/uniform.h"

namespace hoist::px {

struct Step {
  enum class Kind : uint8_t { threads, collective, uniform, branch, for_loop, while_loop };
  Kind kind = Kind::threads;
  std::vector<const ir::Statement*> statements;  // of threads; of the others: one
  std::vector<Step> body;                        // of loops and the branch that is taken
  std::vector<Step> otherwise;

  const ir::Statement& statement() const { return *statements.front(); }
};

class BlockPlan {
 public:
  enum class Storage : uint8_t { plain, shared, rebuilt, kept };

  explicit BlockPlan(const ir::Kernel& kernel);

  const std::vector<Step>& steps() const { return steps_; }
  Storage storage(const ir::Variable* variable) const;
  // Whether each thread's own array is kept for the whole block.
  bool is_kept(const ir::Array* array) const { return kept_arrays_.contains(array); }
  const std::vector<const ir::Variable*>& kept_variables() const { return kept_; }

  // Whether some threads may be gone while others are not.
  bool marks_gone() const { return marks_gone_; }

  // The rebuilt variables that a step needs, those first that others are made of, with what they
  // are made of.
  std::vector<const ir::Variable*> rebuilt_in(const Step& step) const;
  const ir::Expression& value_of(const ir::Variable* rebuilt) const { return *values_.at(rebuilt); }

 private:
  std::vector<Step> cut(const ir::Block& block);
  bool stands_around_steps(const ir::Statement& statement) const;
  bool assigns_shared(const ir::Statement& statement) const;
  bool is_shared_value(const ir::Statement& statement, const ir::Declare& declared) const;
  bool learn_shared(const std::vector<Step>& steps);
  bool share(const ir::Expression& expression);
  void count_uses(const std::vector<Step>& steps, bool in_loop);
  void use(const ir::Statement& statement, int step, bool in_loop);
  void choose_storage();
  bool is_cheap(const ir::Expression& expression, int& nodes) const;

  const ir::Kernel& kernel_;
  ir::Uniformity uniformity_;
  std::vector<Step> steps_;
  std::set<const ir::Variable*> shared_;
  std::set<const ir::Variable*> rebuilt_;
  std::vector<const ir::Variable*> kept_;
  std::set<const ir::Variable*> kept_set_;
  std::set<const ir::Array*> kept_arrays_;
  std::map<const ir::Variable*, const ir::Expression*> values_;  // of those that keep theirs
  std::map<const ir::Variable*, std::set<int>> uses_;            // in which steps
  std::map<const ir::Array*, std::set<int>> array_uses_;
  std::set<const ir::Array*> looped_arrays_;
  int step_count_ = 0;
  bool marks_gone_ = false;
};

}  // namespace hoist::px
