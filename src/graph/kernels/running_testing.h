// Lowered programs in tests: run by the interpreter of the IR, or by kernels of one's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "graph/kernels/testing.h"
#include "graph/program/move.h"
#include "ir/interpret.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace hoist::graph::kernels {

// Memory that vectors may be loaded from.
class Bytes {
 public:
  explicit Bytes(size_t size) : data_(new (std::align_val_t{64}) std::byte[size + 1]()) {}
  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* at) const { ::operator delete[](at, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> data_;
};

// An element as a number.
inline double read(ir::Scalar type, const std::byte* at) {
  Values value(program::lanes_of(ir::dtype_of(type)), 1);
  program::widen(ir::dtype_of(type), at, 1, value.bytes());
  return real_at(value, 0);
}

inline void multiply(const ProductStep& step, const std::vector<Bytes>& memories) {
  for (int64_t i = 0; i < step.batch; ++i) {
    for (int64_t row = 0; row < step.rows; ++row) {
      for (int64_t column = 0; column < step.columns; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < step.depth; ++k) {
          const auto at = [&](const ProductStep::Matrix& m, int64_t r, int64_t c) {
            const int64_t index = m.offset + i * m.batch + r * m.row + c * m.column;
            return read(step.factors, memories[m.storage].data() + index * ir::bytes(step.factors));
          };
          sum += at(step.a, row, k) * at(step.b, k, column);
        }
        // As f32 first, like the node.
        const bool is_wide = step.factors == ir::Scalar::f64;
        const Values value = is_wide ? Values(Values::F64{sum}) : Values{static_cast<float>(sum)};
        const float rounded =
            step.result == ir::Scalar::f16    ? program::rounded_f16(static_cast<float>(sum))
            : step.result == ir::Scalar::bf16 ? program::rounded_bf16(static_cast<float>(sum))
                                              : static_cast<float>(sum);
        const Values narrow = is_wide ? value : Values{rounded};
        std::byte* const to =
            memories[step.c].data() +
            ((i * step.rows + row) * step.columns + column) * ir::bytes(step.result);
        program::narrow(ir::dtype_of(step.result), narrow.bytes(), 1, to);
      }
    }
  }
}

inline std::vector<ir::Argument> arguments_of(const KernelStep& step, const Lowered& lowered,
                                              const std::vector<Bytes>& memories) {
  std::vector<ir::Argument> arguments;
  for (const KernelStep::Argument& argument : step.arguments) {
    arguments.push_back(ir::Argument::array(memories[argument.storage].data(),
                                            lowered.memories[argument.storage].count));
  }
  return arguments;
}

using RunKernel = std::function<void(const KernelStep& step, std::span<const ir::Argument>)>;

inline std::vector<Values> run(const Graph& graph, const Lowered& lowered,
                               const std::vector<Values>& inputs, const RunKernel& run_kernel) {
  std::vector<Bytes> memories;
  for (const Memory& memory : lowered.memories) {
    memories.emplace_back(memory.bytes());
    if (!memory.node) continue;
    const Node& node = graph[*memory.node];
    const Values* values = node.op == Op::constant ? node.values.get() : nullptr;
    if (node.op == Op::input) values = &inputs[static_cast<size_t>(node.numbers[0])];
    if (values == nullptr) continue;
    program::narrow(node.dtype, values->bytes(), values->size(), memories.back().data());
  }
  for (const Step& step : lowered.steps) {
    if (const auto* product = std::get_if<ProductStep>(&step)) {
      multiply(*product, memories);
      continue;
    }
    const auto& kernel = std::get<KernelStep>(step);
    run_kernel(kernel, arguments_of(kernel, lowered, memories));
  }
  std::vector<Values> results;
  for (const Id output : graph.outputs()) {
    const Node& node = graph[output];
    Values& values =
        results.emplace_back(program::lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    for (size_t k = 0; k < lowered.memories.size(); ++k) {
      if (lowered.memories[k].node != output) continue;
      program::widen(node.dtype, memories[k].data(), values.size(), values.bytes());
    }
  }
  return results;
}

inline void interpret_kernel(const KernelStep& step, std::span<const ir::Argument> arguments) {
  const auto done = ir::interpret(*step.kernel, step.grid, arguments);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_FALSE(done->has_value()) << ir::describe(**done, "program");
}

inline void expect_right(const ir::Module& module) {
  for (const ir::Problem& problem : ir::verify(module)) ADD_FAILURE() << problem.message;
}

inline std::vector<Values> random_inputs(const Graph& graph, program::RandomValues& random,
                                         bool with_special) {
  std::vector<Values> inputs;
  for (const Id id : graph.inputs()) inputs.push_back(random.values(graph[id], with_special));
  return inputs;
}

inline void check_interpreted(const Graph& graph, program::RandomValues& random,
                              LowerOptions options, bool fuses) {
  const Graph all = with_all_outputs(graph);
  const Fused fused = program::fuse(all, fuses, false);
  const Result<Lowered> lowered = lower(all, fused, options);
  ASSERT_TRUE(lowered) << lowered.error().message;
  expect_right(lowered->module);
  NodeCheck check(all, fused);
  check.check(random_inputs(all, random, random.below(2) == 0),
              [&](const std::vector<Values>& inputs) {
                return run(all, *lowered, inputs, interpret_kernel);
              });
}

}  // namespace hoist::graph::kernels
