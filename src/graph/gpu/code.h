// A program's kernels and products on one GPU, ready to be put on a stream.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/module.h"
#include "graph/kernels/lowered.h"
#include "ops/gemm/planned_product.h"
#include "px/compile/gpu_module.h"

namespace hoist::graph::gpu {

struct GpuOptions {
  // Products of f32 in 19 bits (TF32) on tensor cores: faster, with errors as of f16.
  bool allows_tf32 = false;
};

// For memory that is aligned to 16 bytes, or for any.
class GpuCode {
 public:
  static Result<std::unique_ptr<const GpuCode>> compile(const program::Graph& graph,
                                                        const program::Fused& fused,
                                                        device::Device& device,
                                                        const GpuOptions& options, bool is_aligned);

  // Bytes that a run needs besides inputs and outputs.
  size_t arena_bytes() const { return arena_bytes_; }
  size_t launches() const { return lowered_.steps.size(); }
  const kernels::Lowered& lowered() const { return lowered_; }
  // Whether an output may be in an input's place.
  bool may_be_input(size_t output, size_t input) const;

  // Memory of one caller at a time, so that runs allocate nothing.
  struct Room {
    std::vector<void*> addresses;  // of each memory
    std::vector<uint64_t> values;  // of a kernel's parameters
    std::vector<void*> parameters;
  };
  Room new_room() const;
  Status enqueue(const device::Stream& stream, std::span<const void* const> inputs,
                 std::span<void* const> outputs, std::byte* arena, Room& room) const;

 private:
  struct Place {
    enum Kind : uint8_t { input, output, constant, arena } kind = arena;
    size_t at = 0;  // number of the input or output, else bytes from the beginning
  };

  explicit GpuCode(device::Device& device) : device_(device) {}
  Status compile_kernels();
  Status plan_products(const GpuOptions& options, bool is_aligned);
  void place_memories(const program::Graph& graph);
  Status upload_constants(const program::Graph& graph);
  Status launch(const device::Stream& stream, size_t step, Room& room) const;

  device::Device& device_;
  kernels::Lowered lowered_;
  std::unique_ptr<px::GpuModule> module_;
  std::vector<const device::ModuleKernel*> functions_;  // of each step; null: a product
  std::vector<std::optional<gemm::PlannedProduct>> products_;
  std::vector<Place> places_;  // of each memory
  std::vector<std::vector<bool>> may_be_input_;
  device::Buffer constants_;
  size_t workspace_ = 0;  // bytes from the arena's beginning
  size_t arena_bytes_ = 0;
  size_t most_parameters_ = 0;
};

}  // namespace hoist::graph::gpu
