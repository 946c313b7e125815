// Where what a lowered program computes lies.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/kernels/lowered.h"

namespace hoist::graph::gpu {

inline constexpr size_t kArenaAlignment = 256;

struct ArenaPlan {
  std::vector<size_t> begins;  // of each memory: bytes from the beginning, 0 for those elsewhere
  size_t bytes = 0;
};
// Memories take a place from the step that first writes them to the last one that reads them.
ArenaPlan plan_arena(const program::Graph& graph, const kernels::Lowered& lowered);

// By output and input: whether they may be the same memory.
std::vector<std::vector<bool>> find_in_place(const program::Graph& graph,
                                             const kernels::Lowered& lowered);

// A constant as the memory has it.
void append_values(const program::Node& constant, std::vector<std::byte>& bytes);

}  // namespace hoist::graph::gpu
