// Steps of a loop, one behind another, that one compiled function can do instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/program/loop.h"

namespace hoist::graph::native {

using program::Loop;
using program::LoopStep;
using program::Slot;

struct Stretch {
  size_t phase = 0;
  size_t begin = 0;  // steps of the phase
  size_t end = 0;
  // What is read before it is written, and what is read behind the stretch, or lies in memory.
  std::vector<uint32_t> loads;
  std::vector<uint32_t> stores;
  bool is_flat = false;  // its slots have no gaps: a block is one row of them
  bool has_rows = true;  // else a block is one row

  size_t steps() const { return end - begin; }
};

// Those that are worth a function: two steps or more.
std::vector<Stretch> find_stretches(const Loop& loop);

// How many of a step's inputs it has.
size_t inputs_of(const LoopStep& step);

}  // namespace hoist::graph::native
