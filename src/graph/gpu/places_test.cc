// Where a program's arrays lie on a GPU, and what is refused without one.
#include "graph/gpu/places.h"

#include <gtest/gtest.h>

#include "graph/gpu/gpu_program.h"
#include "graph/program/prepare.h"

namespace hoist::graph::gpu {
namespace {

using program::DType;
using program::Graph;
using program::Id;
using program::Op;

kernels::Lowered lowered(const Graph& graph) {
  return kernels::lower(graph, program::fuse(graph, true, false), {}).value();
}

TEST(PlacesTest, ResultsThatLiveTogetherLieApart) {
  Graph graph;
  Id x = graph.input(DType::f32, {512, 512}).value();
  for (int i = 0; i < 5; ++i) {
    const Id w = graph.input(DType::f32, {512, 512}).value();
    x = graph.add_node(Op::matmul, {x, w}).value();
  }
  graph.set_outputs({graph.add_node(Op::copy, {x}).value()});
  const Graph prepared = program::prepare(graph);
  const kernels::Lowered made = lowered(prepared);
  const ArenaPlan plan = plan_arena(prepared, made);
  // Two at a time, each the other's input.
  EXPECT_GE(plan.bytes, size_t{2} * 512 * 512 * 4);
  EXPECT_LE(plan.bytes, size_t{2} * 512 * 512 * 4 + 4 * kArenaAlignment);
  for (const kernels::Step& step : made.steps) {
    const auto* product = std::get_if<kernels::ProductStep>(&step);
    if (product == nullptr) continue;
    const auto is_in_arena = [&](kernels::Storage storage) {
      return !program::is_leaf(prepared[*made.memories[storage].node].op);
    };
    if (!is_in_arena(product->a.storage)) continue;
    EXPECT_NE(plan.begins[product->a.storage], plan.begins[product->c]);
  }
}

TEST(PlacesTest, OutputsInPlaceOfInputs) {
  const auto may_be = [](auto&& make) -> bool {
    Graph graph;
    const Id x = graph.input(DType::f32, {3000, 64}).value();
    graph.set_outputs({make(graph, x)});
    const Graph prepared = program::prepare(graph);
    return find_in_place(prepared, lowered(prepared))[0][0];
  };
  EXPECT_TRUE(may_be([](Graph& graph, Id x) { return graph.add_node(Op::exp, {x}).value(); }));
  // Rows, each of which is read whole before it is written.
  EXPECT_TRUE(may_be([](Graph& graph, Id x) {
    return graph.add_node(Op::subtract, {x, graph.reduce(Op::sum, x, {1}, true).value()}).value();
  }));
  // Elsewhere than where they are written.
  EXPECT_FALSE(may_be([](Graph& graph, Id x) {
    const Id turned = graph.slice(x, {2999, 0}, {3000, 64}, {-1, 1}).value();
    return graph.add_node(Op::add, {x, turned}).value();
  }));
  EXPECT_FALSE(may_be([](Graph& graph, Id x) {
    const Id turned = graph.slice(x, {2999, 0}, {3000, 64}, {-1, 1}).value();
    return graph.add_node(Op::exp, {turned}).value();
  }));
  EXPECT_FALSE(may_be([](Graph& graph, Id x) {
    const Id w = graph.input(DType::f32, {64, 64}).value();
    return graph.add_node(Op::matmul, {x, w}).value();
  }));
}

TEST(PlacesTest, OtherDevicesAreRefused) {
  Graph graph;
  const Id x = graph.input(DType::f32, {8}).value();
  graph.set_outputs({graph.add_node(Op::exp, {x}).value()});
  const auto program = GpuProgram::compile(program::prepare(graph), device::cpu_device());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::unsupported) << program.error().message;
}

}  // namespace
}  // namespace hoist::graph::gpu
