// A compiled graph: fused kernels over memory that is planned ahead.
//
//   Graph graph;
//   …
//   Result<std::shared_ptr<const Program>> program = Program::compile(std::move(graph));
//   Status done = (*program)->run(inputs, outputs);
//
// Inputs and outputs are row-major without gaps, booleans as bytes, 0 or 1. An output may be an
// input, or overlap some in any way: the result is as if the inputs had been copied first. Outputs
// that overlap each other are refused. Any number of threads may run one program at the same time;
// up to 16 of them allocate nothing after their first call.
//
// Results: those of interpret() of the same graph, bit for bit but for NaNs' payloads, except
//   - with fast_math,
//   - for f32 products of at most 3 rows and more than 512 terms by a matrix of 12 288 elements or
//     more: these add all terms of an element in their order, others 512 at a time. There, as
//     everywhere, |error| <= depth u sum of |a b| (graph/ops/product.h).
// They do not depend on the number of threads.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/view.h"
#include "base/result.h"
#include "graph/program/graph.h"
#include "graph/program/loop.h"
#include "graph/program/replacement.h"
#include "graph/program/run_loop.h"

namespace hoist::graph::program {

struct CompileOptions {
  bool fast_math = false;
  bool canonicalises = true;
  bool fuses = true;  // else each node is a kernel
  int threads = 0;    // at most, and no more than the process may use; 0: as many as it may
  // Where a program that runs for long gets compiled kernels from; null: nowhere.
  KernelCompiler* compiler = nullptr;
};

struct KernelReport {
  std::vector<Id> nodes;  // of Program::graph()
  uint64_t bytes = 0;     // read and written, each element once
};

struct Report {
  size_t nodes_traced = 0;  // primitive ones: no views, inputs and constants
  size_t nodes_left = 0;    // after canonicalisation
  size_t rewrites = 0;
  uint64_t bytes_moved = 0;
  size_t arena_bytes = 0;
  size_t results_in_place = 0;
  std::vector<KernelReport> kernels;
};

class Program : public std::enable_shared_from_this<Program> {
 public:
  static Result<std::shared_ptr<const Program>> compile(const Graph& graph,
                                                        CompileOptions options = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // A pointer for each input and output. `exhausted` where there is no memory; `invalid_argument`
  // for an index outside of its axis: outputs then have any values.
  Status run(std::span<const void* const> inputs, std::span<void* const> outputs) const;

  // Checks element types, shapes and contiguity, too.
  Status run(std::span<const array::View> inputs, std::span<const array::View> outputs) const;

  size_t inputs() const { return input_bytes_.size(); }
  size_t outputs() const { return output_bytes_.size(); }
  // What is run: canonical, with every view one of strides.
  const Graph& graph() const { return graph_; }
  const Node& input(size_t i) const { return graph_[graph_.inputs()[i]]; }
  // Its type and shape: the node that graph() has as output may have another shape.
  const Node& output(size_t i) const { return outputs_[i]; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Report& report() const { return report_; }
  // Puts compiled kernels in the place of kernels().
  Replacement& replacement() const { return *replacement_; }

 private:
  struct Context;
  // How long a kernel took at best, of its first calls; from then on it is known whether threads
  // pay.
  struct Timing {
    std::atomic<uint32_t> calls{0};
    std::atomic<uint32_t> nanoseconds{UINT32_MAX};
  };

  Program() = default;
  std::unique_ptr<Context> new_context() const;
  std::unique_ptr<Context> take_context() const;
  void give_back(std::unique_ptr<Context> context) const;
  void run_kernels(const Memory& memory, std::byte* scratch) const;
  void run_kernel(size_t kernel, const Memory& memory, std::byte* scratch) const;
  void run_timed(size_t kernel, const Memory& memory, std::byte* scratch) const;
  bool knows_threads() const;
  // On threads where it is known that they pay.
  void run_loops(const Kernel& kernel, size_t number, const Memory& memory,
                 std::byte* scratch) const;
  // Precompiled and compiled kernels.
  void run_both(const Memory& memory, std::byte* scratch) const;
  void try_candidate(size_t kernel, const Kernel& candidate, const Memory& memory,
                     std::byte* scratch) const;
  void run_on_threads(const Loop& loop, const Memory& memory, std::byte* scratch) const;
  // `invalid_argument` where outputs overlap each other.
  Status check_apart(std::span<void* const> outputs) const;
  // In a way that running in place does not allow.
  bool overlaps(std::span<const void* const> inputs, std::span<void* const> outputs) const;
  Status run_apart(std::span<const void* const> inputs, std::span<void* const> outputs) const;

  Graph graph_;
  std::vector<Node> outputs_;
  std::vector<Kernel> kernels_;
  std::vector<size_t> input_bytes_;
  std::vector<size_t> output_bytes_;
  // An output that an earlier one is, too; else itself.
  std::vector<size_t> same_output_;
  bool has_same_outputs_ = false;
  std::vector<std::vector<bool>> may_be_input_;
  size_t arena_bytes_ = 0;
  size_t scratch_bytes_ = 0;  // of a thread
  int threads_ = 1;
  Report report_;
  std::unique_ptr<Timing[]> timings_;
  std::unique_ptr<Replacement> replacement_;
  mutable std::array<std::atomic<Context*>, 16> idle_{};
};

}  // namespace hoist::graph::program
