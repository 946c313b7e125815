// What a launch is given: a grid, and for each of the kernel's arguments, in their order, an array
// or a scalar. The same for all ways to run a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ir/module.h"

namespace hoist::ir {

// x, y, z.
struct Grid {
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};  // of a block

  uint64_t block_count() const { return uint64_t{blocks[0]} * blocks[1] * blocks[2]; }
  uint32_t block_threads() const { return threads[0] * threads[1] * threads[2]; }
};

struct Argument {
  void* data = nullptr;  // of an array
  uint64_t length = 0;   // in elements
  uint64_t bits = 0;     // of a scalar

  static Argument array(void* data, uint64_t length) { return {data, length, 0}; }
  static Argument scalar(uint64_t bits) { return {nullptr, 0, bits}; }
};

// The first access beyond an array's end that a launch with checked bounds has found. The access
// was dropped: a load gives 0.
struct Fault {
  Place place;
  std::string kernel;
  std::string array;
  int64_t index = 0;  // of the first element
  uint64_t length = 0;
  std::array<uint32_t, 3> block{};
  std::array<uint32_t, 3> thread{};  // in its block
};

// "k.px:7:3: k reads or writes a[1000], which has 1000 elements (block 3, thread 231)"
std::string describe(const Fault& fault, const std::string& file);

// Whether the kernel can be launched so: `invalid_argument` for blocks of no or more than
// kMostThreads threads, more than 2^31 - 1 threads in a dimension, more than 65535 blocks in y or z
// or 64 threads of a block in z (as GPUs have them), too few or too many arguments, a null array of
// some length, arrays that are written and overlap another (unless both may be the same memory), or
// that are not aligned to their elements, or to 16 bytes where the kernel loads or stores vectors.
Status check_launch(const Kernel& kernel, const Grid& grid, std::span<const Argument> arguments);

// The grid of a file's own launch. `invalid_argument` for negative or too many blocks or threads.
Result<Grid> grid_of(const Launch& launch, std::span<const Argument> arguments);

}  // namespace hoist::ir
