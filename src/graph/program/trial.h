// Two kernels that compute the same, one behind the other, on what a call is given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "graph/program/run_loop.h"

namespace hoist::graph::program {

struct Trial {
  bool is_same = false;  // bits of all results; any NaN as any other
  uint32_t first_ns = 0;
  uint32_t second_ns = 0;
};

// Leaves the first one's results, whichever ran last. Nothing, and none has run, where there is no
// memory for copies of them, or they have more than 256 MiB.
std::optional<Trial> try_both(const Graph& graph, const Kernel& first, const Kernel& second,
                              const Memory& memory, bool second_goes_first,
                              const std::function<void(const Kernel&)>& run);

}  // namespace hoist::graph::program
