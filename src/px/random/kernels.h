// Random kernels whose every result is exact, so that all ways to run them must agree bit for bit:
// all types and operators, control flow that threads share or not, loops, functions, tables, arrays
// of a thread's own, shared memory with barriers, shuffles, ballots, reductions, atomic sums. For
// tests.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/launch.h"
#include "ir/module.h"

namespace hoist::px {

struct RandomOptions {
  int kernels = 8;
  // Some accesses lie beyond their arrays: for code that checks them.
  bool faults = false;
};

// A module that ir::verify() finds nothing wrong with, the same for the same seed.
ir::Module random_module(uint64_t seed, const RandomOptions& options);

// What a random kernel is launched with, of its seed, too.
struct RandomLaunch {
  struct Memory {
    ir::Scalar element;
    uint64_t length;
    std::vector<uint64_t> words;  // aligned for vectors

    void* data() { return words.data(); }
    const void* data() const { return words.data(); }
    uint64_t bytes() const { return length * static_cast<uint64_t>(ir::bytes(element)); }
  };
  ir::Grid grid;
  std::vector<Memory> arrays;     // of the arguments that are arrays, in their order
  std::vector<uint64_t> scalars;  // of the others

  std::vector<ir::Argument> arguments(const ir::Kernel& kernel);
};
RandomLaunch random_launch(const ir::Kernel& kernel, uint64_t seed);

// "": the arrays hold the same; else where they differ first. Any two NaNs are the same.
std::string first_difference(const ir::Kernel& kernel, const RandomLaunch& left,
                             const RandomLaunch& right);

}  // namespace hoist::px
