// Runs loops.
#pragma once

#include <cstddef>

#include "graph/program/fault.h"
#include "graph/program/loop.h"

namespace hoist::graph::program {

// What a program is given, and where its results lie between kernels.
struct Memory {
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  std::byte* arena = nullptr;
  Fault* fault = nullptr;  // what is found wrong
};

// Bytes that run_loop() needs for itself, aligned to 64 bytes.
size_t scratch_bytes(const Loop& loop);

// In how many units of work the loop can be cut; each may run on a thread of its own.
int64_t units(const Loop& loop);

// Runs units `begin` to `end`.
void run_loop(const Loop& loop, const Memory& memory, std::byte* scratch, int64_t begin,
              int64_t end);

}  // namespace hoist::graph::program
