// Compiled kernels against precompiled ones: the same bits.
#include <gtest/gtest.h>

#include "graph/native/testing.h"

namespace hoist::graph::native {
namespace {

using program::Op;

TEST(NativeTest, RandomProgramsGiveTheSameBits) {
  RandomValues seeds(test_seed());
  int compiled = 0;
  for (int i = 0; i < 24; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Graph graph = program::RandomGraph(random).make(20 + random.below(60));
    program::CompileOptions options;
    options.canonicalises = random.below(3) != 0;
    options.threads = 1 + static_cast<int>(random.below(2));
    const auto made = Program::compile(graph, options).value();
    std::vector<std::vector<Values>> inputs;
    std::vector<std::vector<Values>> expected;
    for (const bool with_special : {false, true, true}) {
      inputs.push_back(random_inputs(graph, random, with_special));
      expected.push_back(program::run_values(*made, inputs.back()));
    }
    if (!take_compiled(*made)) continue;
    ++compiled;
    for (size_t k = 0; k < inputs.size(); ++k) {
      ASSERT_NO_FATAL_FAILURE(expect_same(*made, inputs[k], expected[k])) << i;
    }
  }
  EXPECT_GT(compiled, 8);
}

// Every number that functions of f32 treat in a way of its own, and all between in steps.
TEST(NativeTest, FunctionsGiveTheSameBitsForAllKindsOfNumbers) {
  std::vector<float> numbers = program::special_floats();
  for (uint32_t bits = 0; bits < 0xffff'0000u; bits += 40'111) {
    float number = 0;
    std::memcpy(&number, &bits, sizeof(number));
    numbers.push_back(number);
  }
  const auto count = static_cast<int64_t>(numbers.size());
  Graph graph;
  const Id x = graph.input(program::DType::f32, {count}).value();
  std::vector<Id> outputs;
  for (const Op op : {Op::exp, Op::exp2, Op::expm1, Op::log, Op::log1p, Op::log2, Op::sigmoid,
                      Op::tanh, Op::erf, Op::sqrt, Op::rsqrt, Op::floor, Op::ceil, Op::trunc,
                      Op::round, Op::sign, Op::absolute, Op::relu, Op::negate}) {
    const Id y = graph.add_node(op, {x}).value();
    outputs.push_back(graph.add_node(Op::negate, {y}).value());
  }
  graph.set_outputs(outputs);
  const auto made = Program::compile(graph).value();
  const std::vector<Values> inputs = {Values(numbers)};
  const std::vector<Values> expected = program::run_values(*made, inputs);
  ASSERT_TRUE(take_compiled(*made));
  expect_same(*made, inputs, expected);
}

}  // namespace
}  // namespace hoist::graph::native
