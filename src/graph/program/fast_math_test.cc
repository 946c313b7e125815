// With fast_math values may differ in their last bits; shapes and element types may not.
#include <gtest/gtest.h>

#include "graph/program/canonicalise.h"
#include "graph/program/random_graph.h"

namespace hoist::graph::program {
namespace {

constexpr Op kBinary[] = {Op::add,     Op::subtract, Op::multiply, Op::divide,
                          Op::minimum, Op::maximum,  Op::power};

void expect_same_outputs(const Graph& made, const Graph& graph) {
  ASSERT_EQ(made.outputs().size(), graph.outputs().size());
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Node& found = made[made.outputs()[i]];
    const Node& expected = graph[graph.outputs()[i]];
    ASSERT_EQ(found.shape, expected.shape) << text_of(graph) << "became\n" << text_of(made);
    ASSERT_EQ(found.dtype, expected.dtype);
  }
}

Id number_of_shape(Graph& graph, float value, const Extents& shape) {
  return *graph.reshape(graph.number(value), shape);
}

// A constant of one element may have more axes than what it is used with.
TEST(FastMathTest, NumbersWithAxesKeepTheirPartOfTheShape) {
  for (const Op op : kBinary) {
    for (const float value : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 3.0f, 0.5f}) {
      for (const Extents& axes : {Extents{}, Extents{1}, Extents{1, 1}, Extents{1, 1, 1}}) {
        for (const Extents& shape : {Extents{}, Extents{3}, Extents{0}, Extents{2, 3}}) {
          for (const bool is_first : {true, false}) {
            Graph graph;
            const Id x = *graph.input(DType::f32, shape);
            const Id number = number_of_shape(graph, value, axes);
            const Id inner =
                is_first ? *graph.add_node(op, {number, x}) : *graph.add_node(op, {x, number});
            const Id outer = *graph.add_node(op, {inner, number_of_shape(graph, 0.7f, {1, 1})});
            graph.set_outputs({inner, outer, *graph.reduce(Op::sum, outer, {1}, false)});
            for (const bool fast_math : {false, true}) {
              const Canonical made = canonicalise(graph, {.fast_math = fast_math});
              ASSERT_NO_FATAL_FAILURE(expect_same_outputs(made.graph, graph));
            }
          }
        }
      }
    }
  }
}

TEST(FastMathTest, EmptyArraysMayDivideEachOther) {
  for (const Extents& a : {Extents{0}, Extents{2, 0}, Extents{2, 1}, Extents{1, 1}}) {
    for (const Extents& b : {Extents{0}, Extents{2, 0}, Extents{1, 0}, Extents{1, 1}}) {
      Graph graph;
      const Id x = *graph.input(DType::f32, a);
      const Id y = *graph.input(DType::f32, b);
      const Result<Id> quotient = graph.add_node(Op::divide, {x, y});
      ASSERT_TRUE(quotient);
      graph.set_outputs({*quotient});
      expect_same_outputs(canonicalise(graph, {.fast_math = true}).graph, graph);
      const auto program = Program::compile(graph, {.fast_math = true}).value();
      const std::vector<Values> given = {Values(static_cast<size_t>(element_count(a)), 3.0f),
                                         Values(static_cast<size_t>(element_count(b)), 2.0f)};
      const size_t count = element_count(b) == 0 ? 0 : static_cast<size_t>(element_count(a));
      EXPECT_TRUE(same_values(run_values(*program, given)[0], Values(count, 1.5f)));
    }
  }
}

// Programs give what the interpreter gives for the graph that the rules made.
TEST(FastMathTest, RandomGraphs) {
  RandomValues seeds(test_seed());
  for (int i = 0; i < 400; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Graph graph = RandomGraph(random).make(1 + random.below(20));
    const Canonical made = canonicalise(graph, {.fast_math = true});
    ASSERT_NO_FATAL_FAILURE(expect_same_outputs(made.graph, graph));
    std::vector<Values> inputs;
    for (const Id id : graph.inputs()) inputs.push_back(random.values(graph[id], false));
    const std::vector<Values> expected = interpret(made.graph, inputs).value();
    const auto program = Program::compile(graph, {.fast_math = true, .threads = 1}).value();
    const std::vector<Values> found = run_values(*program, inputs);
    for (size_t k = 0; k < found.size(); ++k) {
      ASSERT_TRUE(same_values(found[k], expected[k])) << "output " << k << "\n" << text_of(graph);
    }
  }
}

}  // namespace
}  // namespace hoist::graph::program
