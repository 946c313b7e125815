// Between which numbers an i32 expression lies, so that emitted code adds and multiplies as C++
// does where nothing can wrap: only then can a compiler see that neighbours in a loop are
// neighbours in memory, and make vector code.
#pragma once

#include <cstdint>
#include <map>

#include "ir/module.h"

namespace hoist::px {

class Ranges {
 public:
  // Where thread ids are below `threads`.
  Ranges(const ir::Kernel& kernel, int64_t threads);

  // Whether the i32 sum, difference, product or negation is what it is without a limit.
  bool never_wraps(const ir::Expression& expression) const;

 private:
  struct Range {
    int64_t least = INT32_MIN;
    int64_t most = INT32_MAX;
  };
  Range of(const ir::Expression& expression) const;
  Range compute(const ir::Expression& expression) const;
  // Before it is cut to 32 bits; everything where that is not known.
  Range exact(const ir::Expression& expression) const;
  void learn(const ir::Statement& statement);

  int64_t threads_;
  std::map<const ir::Variable*, Range> variables_;
  mutable std::map<const ir::Expression*, Range> known_;
};

}  // namespace hoist::px
