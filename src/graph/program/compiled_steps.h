// Several element-wise steps of a loop as one function, which was compiled for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hoist::graph::program {

class CompiledSteps {
 public:
  static constexpr size_t kMostSlots = 32;

  // `slots`: what it reads and writes. `is_flat`: all rows of a block at once.
  CompiledSteps(std::vector<uint32_t> slots, bool is_flat)
      : slots_(std::move(slots)), is_flat_(is_flat) {}
  virtual ~CompiledSteps() = default;
  CompiledSteps(const CompiledSteps&) = delete;
  CompiledSteps& operator=(const CompiledSteps&) = delete;

  // `arrays`: where each slot begins for the block. The same bits as the steps, any NaN as any
  // other. Thread-safe.
  virtual void run(void* const* arrays, int64_t rows, int64_t columns) const = 0;

  const std::vector<uint32_t>& slots() const { return slots_; }
  bool is_flat() const { return is_flat_; }

 private:
  const std::vector<uint32_t> slots_;
  const bool is_flat_;
};

}  // namespace hoist::graph::program
