// Lowered programs, run by the interpreter of the IR and as compiled C++, against the interpreter
// of graphs.
#include <gtest/gtest.h>

#include <array>

#include "graph/kernels/compiled_testing.h"

namespace hoist::graph::kernels {
namespace {

LowerOptions random_options(program::RandomValues& random) {
  LowerOptions options;
  options.uses_vectors = random.below(4) != 0;
  options.generates_products = random.below(2) == 0;
  constexpr std::array kProcessors = {1, 2, 8, 132};
  options.multiprocessors = kProcessors[random.below(kProcessors.size())];
  return options;
}

TEST(LowerTest, RandomGraphsGiveWhatTheInterpreterGives) {
  program::RandomValues seeds(test_seed());
  for (int i = 0; i < 100; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    program::RandomValues random(seed);
    const Graph graph = program::RandomGraph(random).make(1 + random.below(12));
    ASSERT_NO_FATAL_FAILURE(
        check_interpreted(graph, random, random_options(random), random.below(4) != 0));
  }
}

// Each element-wise operation on each type that it takes: numbers of all sizes and special ones.
TEST(LowerTest, OperationsOfAllTypes) {
  program::RandomValues random(test_seed());
  constexpr std::array kTypes = {DType::boolean, DType::f16, DType::bf16, DType::f32, DType::f64,
                                 DType::i8,      DType::i16, DType::i32,  DType::i64, DType::u8,
                                 DType::u16,     DType::u32, DType::u64};
  size_t tried = 0;
  for (size_t number = 0; number < program::kOps; ++number) {
    const Op op = static_cast<Op>(number);
    if (!program::is_elementwise(op) || op == Op::cast) continue;
    for (const DType dtype : kTypes) {
      if (!program::takes(op, dtype)) continue;
      SCOPED_TRACE(std::string(program::properties(op).name) + " of " +
                   std::string(array::properties(dtype).framework));
      Graph graph;
      std::vector<Id> inputs;
      if (op == Op::where) inputs.push_back(graph.input(DType::boolean, {300}).value());
      while (inputs.size() < static_cast<size_t>(program::properties(op).inputs)) {
        inputs.push_back(graph.input(dtype, {300}).value());
      }
      graph.set_outputs({graph.add_node(op, inputs).value()});
      const Graph prepared = with_all_outputs(graph);
      const Fused fused = program::fuse(prepared, true, false);
      const Result<Lowered> lowered = lower(prepared, fused, {});
      ASSERT_TRUE(lowered) << lowered.error().message;
      expect_right(lowered->module);
      for (const bool with_special : {false, true}) {
        NodeCheck check(prepared, fused);
        ASSERT_NO_FATAL_FAILURE(check.check(
            random_inputs(prepared, random, with_special), [&](const std::vector<Values>& given) {
              return run(prepared, *lowered, given, interpret_kernel);
            }));
      }
      ++tried;
    }
  }
  EXPECT_GT(tried, 200u);
}

// Rows and columns of all lengths that kernels have ways of their own for.
TEST(LowerTest, ReductionsOfAllShapes) {
  program::RandomValues random(test_seed());
  const std::vector<std::pair<Extents, Extents>> cases = {
      {{1}, {0}},         {{5, 3}, {1}},         {{40, 16}, {1}},          {{700, 33}, {1}},
      {{9, 300}, {1}},    {{3, 1024}, {1}},      {{2, 5000}, {1}},         {{1, 40000}, {1}},
      {{33000}, {0}},     {{70, 40}, {0}},       {{3000, 33}, {0}},        {{9, 40}, {0}},
      {{3, 50, 40}, {1}}, {{3, 50, 40}, {0, 2}}, {{2, 30, 30, 4}, {1, 2}}, {{1, 20000, 3}, {1}},
  };
  for (const auto& [shape, axes] : cases) {
    for (const int processors : {1, 132}) {
      SCOPED_TRACE(program::text_of(shape) + " over " + program::text_of(axes));
      Graph graph;
      const Id x = graph.input(DType::f32, shape).value();
      std::vector<Id> outputs;
      const Id most = graph.reduce(Op::reduce_maximum, x, axes, true).value();
      const Id e =
          graph.add_node(Op::exp, {graph.add_node(Op::subtract, {x, most}).value()}).value();
      const Id sum = graph.reduce(Op::sum, e, axes, true).value();
      outputs.push_back(graph.add_node(Op::divide, {e, sum}).value());
      outputs.push_back(graph.reduce(Op::mean, x, axes, false).value());
      outputs.push_back(graph.reduce(Op::reduce_minimum, x, axes, false).value());
      // Factors near 1, so that no order of them overflows.
      const Id bounded = graph.add_node(Op::tanh, {x}).value();
      const Id small = graph.add_node(Op::multiply, {bounded, graph.number(0.01f)}).value();
      const Id factor = graph.add_node(Op::exp, {small}).value();
      outputs.push_back(graph.reduce(Op::product, factor, axes, false).value());
      graph.set_outputs(outputs);
      LowerOptions options;
      options.multiprocessors = processors;
      ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, options, true));
    }
  }
}

// As C++, and as CUDA as far as NVRTC takes it.
TEST(LowerTest, CompiledKernelsGiveWhatTheInterpreterGives) {
  program::RandomValues seeds(test_seed());
  for (int i = 0; i < 6; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    program::RandomValues random(seed);
    const Graph graph = program::RandomGraph(random).make(1 + random.below(12));
    ASSERT_NO_FATAL_FAILURE(check_compiled(graph, random, random_options(random)));
    if (testing::Test::IsSkipped()) return;
  }
}

// The whole of a small network is one launch.
TEST(LowerTest, TinyLayersAreOneKernel) {
  Graph graph;
  Id x = graph.input(DType::f32, {1, 64}).value();
  for (const int64_t width : {64, 64, 8}) {
    const Id w = graph.input(DType::f32, {graph[x].shape[1], width}).value();
    const Id b = graph.input(DType::f32, {width}).value();
    const Id product = graph.add_node(Op::matmul, {x, w}).value();
    x = graph.add_node(Op::relu, {graph.add_node(Op::add, {product, b}).value()}).value();
  }
  graph.set_outputs({x});
  const Graph prepared = program::prepare(graph);
  const Result<Lowered> lowered = lower(prepared, program::fuse(prepared, true, false), {});
  ASSERT_TRUE(lowered) << lowered.error().message;
  EXPECT_EQ(lowered->steps.size(), 1u);
}

// A product of 16 bits is multiplied as such, and rounded in passing: no kernel is left.
TEST(LowerTest, ProductsOf16BitsAreRoundedInPassing) {
  program::RandomValues random(test_seed());
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Graph graph;
    const Id x = graph.input(dtype, {40, 1200}).value();
    const Id w = graph.input(dtype, {1200, 30}).value();
    graph.set_outputs({graph.add_node(Op::matmul, {x, w}).value()});
    const Graph prepared = program::prepare(graph);
    const Result<Lowered> lowered = lower(prepared, program::fuse(prepared, true, false), {});
    ASSERT_TRUE(lowered) << lowered.error().message;
    ASSERT_EQ(lowered->steps.size(), 1u);
    const auto* const step = std::get_if<ProductStep>(&lowered->steps[0]);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(ir::dtype_of(step->factors), dtype);
    EXPECT_EQ(ir::dtype_of(step->result), dtype);
    const std::vector<Values> inputs = random_inputs(prepared, random, false);
    const Values found = run(prepared, *lowered, inputs, interpret_kernel)[0];
    const Values expected = interpret(prepared, inputs).value()[0];
    const double unit = dtype == DType::f16 ? 0x1p-10 : 0x1p-7;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], unit * std::abs(expected[i]) + 1e-3);
    }
    // What reads the sums themselves gets them.
    const Id sums = graph
                        .add_node(Op::matmul, {graph.cast(x, DType::f32).value(),
                                               graph.cast(w, DType::f32).value()})
                        .value();
    graph.set_outputs({sums, graph.cast(sums, dtype).value()});
    ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, {}, true));
  }
}

}  // namespace
}  // namespace hoist::graph::kernels
