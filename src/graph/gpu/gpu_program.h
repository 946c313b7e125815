// A program on a GPU: kernels that are made of its fused groups, and cuBLASLt for large products.
//
//   Result<std::shared_ptr<GpuProgram>> program = GpuProgram::compile(graph, device, {});
//   Status enqueued = (*program)->run(stream, inputs, outputs);
//
// Inputs and outputs are memory of the device, row-major without gaps, booleans as bytes. A run
// puts work on the stream and returns. An output may be an input, or overlap some in any way;
// outputs do not overlap each other.
//
// What was run with the same addresses before is recorded, and launched as one (a CUDA graph).
//
// Any number of threads may run one program, on any streams. Each stream has memory for results
// between kernels, kept for the next run on it; of more than a few streams the one that was used
// longest ago gives its up, which waits for the device. A stream must not be destroyed while a run
// on it is under way.
//
// Results: those of program::Program where operations are exact; other functions and sums as
// docs/reference/graph-programs.md says. The same for the same shapes, alignment and device.
//
// Errors: `unsupported` for a device that is no CUDA GPU, and for what kernels have not;
// `unavailable` without NVRTC or cuBLASLt, and once the device was lost.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/captured_work.h"
#include "graph/gpu/code.h"
#include "graph/program/graph.h"

namespace hoist::graph::gpu {

// Somebody else's stream. Without a handle it is the legacy default one.
device::Stream stream_of(device::Device& device, device::StreamHandle handle);

class GpuProgram {
 public:
  // `graph` is a prepared one: Program::graph().
  static Result<std::shared_ptr<GpuProgram>> compile(const program::Graph& graph,
                                                     device::Device& device,
                                                     const GpuOptions& options = {});
  ~GpuProgram();
  GpuProgram(const GpuProgram&) = delete;
  GpuProgram& operator=(const GpuProgram&) = delete;

  // Without a handle: the legacy default stream.
  Status run(device::StreamHandle stream, std::span<const void* const> inputs,
             std::span<void* const> outputs);

  device::Device& device() const { return device_; }
  size_t arena_bytes() const { return codes_[0]->arena_bytes(); }
  // Kernels and products of a run.
  size_t launches() const { return codes_[0]->launches(); }
  // Runs that were launched as recorded.
  size_t replays() const;

 private:
  struct Recorded;
  struct Context;

  GpuProgram(const program::Graph& graph, device::Device& device, const GpuOptions& options);
  Result<const GpuCode*> code_for(bool is_aligned);
  Result<Context*> context_for(device::StreamHandle stream, const GpuCode& code);
  Status run_in(Context& context, const device::Stream& stream, std::span<const void* const> inputs,
                std::span<void* const> outputs);
  Status enqueue(Context& context, const device::Stream& stream,
                 std::span<const void* const> inputs, std::span<void* const> outputs);
  Status run_apart(const device::Stream& stream, std::span<const void* const> inputs,
                   std::span<void* const> outputs);
  bool overlaps(const GpuCode& code, std::span<const void* const> inputs,
                std::span<void* const> outputs) const;

  const program::Graph graph_;
  const program::Fused fused_;
  device::Device& device_;
  const GpuOptions options_;
  std::vector<size_t> input_bytes_;
  std::vector<size_t> output_bytes_;
  std::vector<size_t> same_output_;  // that an output is a copy of; else itself

  mutable std::mutex mutex_;
  std::array<std::unique_ptr<const GpuCode>, 2> codes_;  // for aligned memory, and for any
  std::list<std::unique_ptr<Context>> contexts_;         // the last used first
  size_t replays_ = 0;
};

}  // namespace hoist::graph::gpu
