// Programs whose kernels are all compiled ones, however fast they are.
#pragma once

#include "graph/native/alternative.h"
#include "graph/program/random_graph.h"
#include "px/compile/own_cache.h"

namespace hoist::graph::native {

using program::Graph;
using program::Id;
using program::Program;
using program::RandomValues;
using program::Values;

// Whether anything was compiled.
inline bool take_compiled(const Program& program) {
  Alternatives made(program);
  if (!made.has_any()) return false;
  const auto code = made.code();
  EXPECT_TRUE(code) << (code ? "" : code.error().message);
  if (!code) return false;
  auto compiled = px::CpuModule::compile(*code);
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
  if (!compiled) return false;
  auto offers = std::move(made).offers(*std::move(compiled));
  EXPECT_TRUE(offers);
  program.replacement().take(*std::move(offers));
  return true;
}

inline std::vector<Values> random_inputs(const Graph& graph, RandomValues& random,
                                         bool with_special) {
  std::vector<Values> inputs;
  for (const Id id : graph.inputs()) inputs.push_back(random.values(graph[id], with_special));
  return inputs;
}

// Calls of one program before and after give the same bits.
inline void expect_same(const Program& program, const std::vector<Values>& inputs,
                        const std::vector<Values>& expected) {
  const std::vector<Values> found = program::run_values(program, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_TRUE(program::same_values(found[i], expected[i])) << "output " << i << "\n"
                                                             << program::text_of(program.graph());
  }
}

}  // namespace hoist::graph::native
