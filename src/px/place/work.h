// How much work a launch is, counted in the IR: an estimate, for who decides where it runs.
//
// Operations are counted as the first thread does them: a loop has the turns that constants, the
// kernel's scalars, lengths and the grid say, an IF the more of its two sides. A simple operation
// or a load counts 1; what takes longer more, about as on a CPU. Bytes are those of the arrays,
// once: what a kernel loads again is mostly in a cache.
#pragma once

#include <cstdint>
#include <span>

#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::px {

struct Work {
  double operations = 0;  // of all threads
  // Those in loops whose turns no constants say, and in a WHILE. A C++ compiler puts threads into
  // the lanes of vectors elsewhere, and not there.
  double scalar_operations = 0;
  uint64_t bytes_in = 0;   // of all arrays: what goes to a GPU
  uint64_t bytes_out = 0;  // of those that are written: what comes back
  // No: there is a WHILE, or a loop whose turns depend on data. It counts one turn, and the work is
  // the least that there is.
  bool is_whole = true;

  uint64_t bytes() const { return bytes_in + bytes_out; }
};

// Only lengths and scalars of the arguments count, so that arrays may be null.
Work work_of(const ir::Kernel& kernel, const ir::Grid& grid,
             std::span<const ir::Argument> arguments);

}  // namespace hoist::px
