// Where results lie between kernels: one arena, each place used again as soon as nothing reads it
// any more, and results in place of an input where the kernel allows it.
#pragma once

#include <vector>

#include "graph/program/loop.h"

namespace hoist::graph::program {

struct Plan {
  size_t arena = 0;     // bytes
  size_t in_place = 0;  // results that took the place of an input
  // By output and input of the program: whether they may be the same memory.
  std::vector<std::vector<bool>> may_be_input;
};

// Sets the places of all operands.
Plan plan(const Graph& graph, std::vector<Kernel>& kernels);

}  // namespace hoist::graph::program
