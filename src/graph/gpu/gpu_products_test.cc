// Products of matrices on a GPU, of all layouts and types.
#include <gtest/gtest.h>

#include "graph/gpu/gpu_testing.h"

namespace hoist::graph::gpu {
namespace {

using GpuProductsTest = GpuProgramTest;

// By cuBLASLt: dense, transposed, in batches, broadcast, of views that must be copied first.
TEST_F(GpuProductsTest, ProductsOfAllLayouts) {
  RandomValues random(test_seed());
  struct Case {
    Extents a;
    Extents b;
    bool turns_a = false;
    bool turns_b = false;
  };
  const std::vector<Case> cases = {
      {{300, 200}, {200, 500}},
      {{200, 300}, {200, 500}, true},
      {{300, 200}, {500, 200}, false, true},
      {{200, 300}, {500, 200}, true, true},
      {{7, 130, 70}, {7, 70, 90}},
      {{7, 130, 70}, {70, 90}},
      {{130, 70}, {7, 70, 90}},
      {{3, 1, 130, 70}, {2, 70, 90}},
      {{2000, 1}, {1, 3000}},
      {{1, 5000}, {5000, 700}},
      {{1500, 1030}, {1030, 1}},
      {{4, 70, 130}, {4, 90, 70}, true, true},
  };
  for (const Case& it : cases) {
    SCOPED_TRACE(program::text_of(it.a) + " times " + program::text_of(it.b));
    Graph graph;
    const auto factor = [&](const Extents& shape, bool turns) {
      const program::Id id = graph.input(DType::f32, shape).value();
      if (!turns) return id;
      Extents order;
      for (size_t i = 0; i < shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
      std::swap(order[shape.size() - 1], order[shape.size() - 2]);
      return graph.permute(id, order).value();
    };
    const program::Id a = factor(it.a, it.turns_a);
    const program::Id b = factor(it.b, it.turns_b);
    const program::Id product = graph.add_node(Op::matmul, {a, b}).value();
    graph.set_outputs({graph.add_node(Op::relu, {product}).value()});
    for (const size_t shift : {0, 4}) {
      ASSERT_NO_FATAL_FAILURE(check_nodes(graph, random, false, shift));
    }
  }
}

TEST_F(GpuProductsTest, ProductsOfAllTypes) {
  RandomValues random(test_seed());
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64, DType::i32, DType::u8}) {
    SCOPED_TRACE(array::properties(dtype).framework);
    Graph graph;
    const program::Id x = graph.input(dtype, {130, 1100}).value();
    const program::Id w = graph.input(dtype, {1100, 70}).value();
    const program::Id product = graph.add_node(Op::matmul, {x, w}).value();
    graph.set_outputs({graph.add_node(Op::relu, {product}).value()});
    ASSERT_NO_FATAL_FAILURE(check_nodes(graph, random, false));
    // Without the sums as an output the library rounds them.
    const Graph prepared = program::prepare(graph);
    const auto program = GpuProgram::compile(prepared, device());
    ASSERT_TRUE(program) << program.error().message;
    const std::vector<Values> inputs = random_inputs(prepared, random, false);
    const Values found = run(**program, prepared, inputs)[0];
    const Values expected = interpret(prepared, inputs).value()[0];
    const double unit = dtype == DType::f16 ? 0x1p-10 : dtype == DType::bf16 ? 0x1p-7 : 1e-12;
    for (size_t i = 0; i < found.size(); ++i) {
      const double wanted = kernels::real_at(expected, i);
      const double least = dtype == DType::f16 || dtype == DType::bf16 ? 1e-3 : 1e-10;
      ASSERT_NEAR(kernels::real_at(found, i), wanted, unit * std::abs(wanted) + least);
    }
  }
}

}  // namespace
}  // namespace hoist::graph::gpu
