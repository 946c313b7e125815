// Finds accesses by a thread's number that no condition guards: the last block of a launch often
// has more threads than the array has elements left.
//
// Values are followed through variables; a condition that compares such a value guards what stands
// under it, and so does `IF tid >= n: RETURN ENDIF` for what stands behind.
#pragma once

#include <set>

#include "ir/expression.h"

namespace hoist::px {

class BoundsWatch {
 public:
  // What a variable is given.
  void give(const ir::Variable* variable, const ir::Expression& value);

  // Whether the condition, or what it is made of, compares a thread's number.
  bool is_guard(const ir::Expression& condition) const;
  void enter() { ++guards_; }
  void leave() { --guards_; }

  // Whether an access at `index` deserves the warning.
  bool is_unguarded(const ir::Expression& index) const;

 private:
  // The number of a thread among all is its own, or made of its block's and of its local one.
  struct Parts {
    bool block = false;
    bool local = false;
    bool is_thread() const { return block && local; }
  };
  Parts parts_of(const ir::Expression& expression) const;

  std::set<const ir::Variable*> of_block_;
  std::set<const ir::Variable*> of_local_;
  int guards_ = 0;
};

}  // namespace hoist::px
