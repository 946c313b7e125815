// Lowered programs in tests, compiled: run as C++, and as CUDA as far as NVRTC takes it.
#pragma once

#include "graph/kernels/running_testing.h"
#include "ir/passes/simplify.h"
#include "px/compile/cpu_module.h"
#include "px/compile/gpu_module.h"
#include "px/compile/nvrtc.h"
#include "px/compile/own_cache.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"

namespace hoist::graph::kernels {

inline void check_compiled(const Graph& of, program::RandomValues& random, LowerOptions options) {
  const Graph graph = with_all_outputs(of);
  const Fused fused = program::fuse(graph, true, false);
  Result<Lowered> lowered = lower(graph, fused, options);
  ASSERT_TRUE(lowered) << lowered.error().message;
  ir::simplify(lowered->module);
  const auto compiled = px::CpuModule::compile(px::emit_cpp(lowered->module, false));
  if (!compiled && compiled.error().code == ErrorCode::unavailable) {
    GTEST_SKIP() << compiled.error().message;
  }
  ASSERT_TRUE(compiled) << compiled.error().message;
  const auto run_kernel = [&](const KernelStep& step, std::span<const ir::Argument> arguments) {
    px::CpuFault fault;
    px::run_on_cpu((*compiled)->kernel(px::cpp_entry_name(*step.kernel)), step.grid, arguments,
                   &fault);
  };
  NodeCheck check(graph, fused);
  check.check(
      random_inputs(graph, random, random.below(2) == 0),
      [&](const std::vector<Values>& inputs) { return run(graph, *lowered, inputs, run_kernel); });
  const auto code =
      px::compile_cuda(px::emit_cuda(lowered->module, false).text, "sm_90", px::cuda_options(256));
  if (!code && code.error().code == ErrorCode::unavailable) return;
  ASSERT_TRUE(code) << code.error().message;
}

}  // namespace hoist::graph::kernels
