#include "graph/program/program.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/threads.h"
#include "graph/program/canonicalise.h"
#include "graph/program/fuse.h"
#include "graph/program/lower.h"
#include "graph/program/plan.h"
#include "graph/program/prepare.h"
#include "graph/program/traffic.h"

namespace hoist::graph::program {
namespace {

size_t size_of(const Node& node) {
  return static_cast<size_t>(node.elements()) * bytes_of(node.dtype);
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a);
  const auto y = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

Status check(const Node& node, const array::View& view, const char* what, size_t i) {
  const std::string who = "the program's " + std::string(what) + " " + std::to_string(i);
  if (view.device.kind != array::DeviceKind::cpu) {
    return fail(ErrorCode::unsupported, who + " does not lie on the CPU: move it there");
  }
  const auto shape = view.shape();
  if (view.dtype != node.dtype ||
      !std::equal(shape.begin(), shape.end(), node.shape.begin(), node.shape.end())) {
    return fail(ErrorCode::invalid_argument,
                who + " is " + std::string(array::properties(node.dtype).framework) + " of shape " +
                    text_of(node.shape) + ", not " +
                    std::string(array::properties(view.dtype).framework) + " of shape " +
                    text_of({shape.begin(), shape.end()}));
  }
  if (!view.is_contiguous()) {
    return fail(ErrorCode::unsupported, who + " has gaps: give a contiguous array");
  }
  return {};
}

}  // namespace

struct Program::Context {
  struct Free {
    void operator()(std::byte* at) const { ::operator delete[](at, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> memory;  // the arena, then each thread's scratch memory
};

Result<std::shared_ptr<const Program>> Program::compile(const Graph& graph,
                                                        CompileOptions options) {
  if (graph.outputs().empty()) {
    return fail(ErrorCode::invalid_argument, "a program without outputs: give at least one");
  }
  if (options.threads < 0) {
    return fail(ErrorCode::invalid_argument,
                std::to_string(options.threads) + " threads for a program: give 0 or more");
  }
  std::shared_ptr<Program> program(new Program);
  Report& report = program->report_;
  report.nodes_traced = graph.primitives();
  if (options.canonicalises) {
    Canonical canonical = canonicalise(graph, {options.fast_math});
    report.rewrites = canonical.rewrites;
    report.nodes_left = canonical.graph.primitives();
    program->graph_ = prepare(canonical.graph);
  } else {
    report.nodes_left = report.nodes_traced;
    program->graph_ = prepare(graph);
  }
  const Graph& made = program->graph_;
  for (const Id id : graph.outputs()) {
    program->outputs_.push_back({Op::input, graph[id].dtype, graph[id].shape, {}, {}, nullptr});
  }
  program->kernels_ = lower(made, fuse(made, options.fuses, true));
  const Plan plan = program::plan(made, program->kernels_);
  program->arena_bytes_ = plan.arena;
  program->may_be_input_ = plan.may_be_input;
  report.arena_bytes = plan.arena;
  report.results_in_place = plan.in_place;
  for (const Kernel& kernel : program->kernels_) {
    report.kernels.push_back({kernel.members, traffic(made, kernel)});
    report.bytes_moved += report.kernels.back().bytes;
    for (const Loop& loop : kernel.loops) {
      program->scratch_bytes_ = std::max(program->scratch_bytes_, scratch_bytes(loop));
    }
  }
  for (const Id id : made.inputs()) program->input_bytes_.push_back(size_of(made[id]));
  const std::vector<Id>& outputs = made.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    program->output_bytes_.push_back(size_of(made[outputs[i]]));
    const size_t first = *made.output_of(outputs[i]);
    program->same_output_.push_back(first);
    program->has_same_outputs_ |= first != i;
  }
  program->replacement_ = std::make_unique<Replacement>(program->kernels_, options.compiler);
  program->timings_ = std::make_unique<Timing[]>(program->kernels_.size());
  // No more than the pool has: each has memory of its own.
  program->threads_ = std::min(options.threads != 0 ? options.threads : usable_cpus(),
                               ThreadPool::process().size());
  return std::shared_ptr<const Program>(std::move(program));
}

Program::~Program() {
  for (std::atomic<Context*>& idle : idle_) delete idle.load();
}

std::unique_ptr<Program::Context> Program::new_context() const {
  auto context = std::make_unique<Context>();
  const size_t bytes = arena_bytes_ + scratch_bytes_ * static_cast<size_t>(std::max(threads_, 1));
  context->memory.reset(new (std::align_val_t{64}) std::byte[bytes + 64]);
  return context;
}

// What callers at the same time had waits for the next ones.
std::unique_ptr<Program::Context> Program::take_context() const {
  for (std::atomic<Context*>& idle : idle_) {
    std::unique_ptr<Context> context(idle.exchange(nullptr, std::memory_order_acquire));
    if (context) return context;
  }
  return new_context();
}

void Program::give_back(std::unique_ptr<Context> context) const {
  for (std::atomic<Context*>& idle : idle_) {
    Context* none = nullptr;
    if (idle.compare_exchange_strong(none, context.get(), std::memory_order_release)) {
      (void)context.release();
      return;
    }
  }
}

bool Program::overlaps(std::span<const void* const> inputs, std::span<void* const> outputs) const {
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!overlap(inputs[i], input_bytes_[i], outputs[o], output_bytes_[o])) continue;
      const bool is_same = inputs[i] == outputs[o] && input_bytes_[i] == output_bytes_[o];
      if (!is_same || !may_be_input_[o][i]) return true;
    }
  }
  return false;
}

Status Program::check_apart(std::span<void* const> outputs) const {
  for (size_t i = 1; i < outputs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!overlap(outputs[i], output_bytes_[i], outputs[k], output_bytes_[k])) continue;
      return fail(ErrorCode::invalid_argument, "the program's outputs " + std::to_string(k) +
                                                   " and " + std::to_string(i) +
                                                   " overlap: give each memory of its own");
    }
  }
  return {};
}

// Into memory of its own, then to where the results belong.
Status Program::run_apart(std::span<const void* const> inputs,
                          std::span<void* const> outputs) const {
  std::vector<std::vector<std::byte>> results;
  std::vector<void*> places;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.emplace_back(output_bytes_[i] + 1);
    places.push_back(results.back().data());
  }
  if (Status ok = run(inputs, places); !ok) return ok;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (output_bytes_[i] != 0) std::memcpy(outputs[i], places[i], output_bytes_[i]);
  }
  return {};
}

Status Program::run(std::span<const void* const> inputs, std::span<void* const> outputs) const {
  if (inputs.size() != this->inputs() || outputs.size() != this->outputs()) {
    return fail(ErrorCode::invalid_argument,
                "a program with " + std::to_string(this->inputs()) + " inputs and " +
                    std::to_string(this->outputs()) + " outputs is given " +
                    std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  }
  if (Status ok = check_apart(outputs); !ok) return ok;
  try {
    if (overlaps(inputs, outputs)) return run_apart(inputs, outputs);
    std::unique_ptr<Context> context = take_context();
    std::byte* const memory = context->memory.get();
    Fault fault;
    run_kernels({inputs.data(), outputs.data(), memory, &fault}, memory + arena_bytes_);
    give_back(std::move(context));
    if (Status ok = fault.status(); !ok) return ok;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::exhausted, "no memory for a program's results");
  }
  if (has_same_outputs_) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t first = same_output_[i];
      if (first == i || output_bytes_[i] == 0) continue;
      std::memcpy(outputs[i], outputs[first], output_bytes_[i]);
    }
  }
  return {};
}

Status Program::run(std::span<const array::View> inputs,
                    std::span<const array::View> outputs) const {
  std::vector<const void*> from;
  std::vector<void*> to;
  if (inputs.size() == this->inputs() && outputs.size() == this->outputs()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (Status ok = check(input(i), inputs[i], "input", i); !ok) return ok;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (Status ok = check(output(i), outputs[i], "output", i); !ok) return ok;
    }
  }
  for (const array::View& view : inputs) from.push_back(view.data);
  for (const array::View& view : outputs) to.push_back(view.data);
  return run(from, to);
}

}  // namespace hoist::graph::program
