// Compiled kernels against precompiled ones: the same bits.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "graph/native/testing.h"

namespace hoist::graph::native {
namespace {

using program::Op;

TEST(NativeTest, RandomProgramsGiveTheSameBits) {
  RandomValues seeds(test_seed());
  int compiled = 0;
  for (int i = 0; i < 12; ++i) {
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
  EXPECT_GT(compiled, 4);
}

// Outputs in the memory of inputs, in place where the plan allows it.
TEST(NativeTest, OutputsMayBeInputs) {
  RandomValues seeds(test_seed());
  int tried = 0;
  // Not every graph has an output that fits an input.
  for (int i = 0; i < 12 || (tried < 2 && i < 200); ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Graph graph = program::RandomGraph(random).make(4 + random.below(8));
    const auto made = Program::compile(graph).value();
    const std::vector<Values> inputs = random_inputs(graph, random, true);
    const std::vector<Values> expected = program::run_values(*made, inputs);
    if (!take_compiled(*made)) continue;
    for (size_t o = 0; o < made->outputs(); ++o) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (made->output(o).dtype != made->input(k).dtype) continue;
        if (expected[o].empty() || expected[o].size() != inputs[k].size()) continue;
        ++tried;
        const Values found = program::run_values(*made, inputs, {{o, k}})[o];
        ASSERT_TRUE(program::same_values(found, expected[o]))
            << "output " << o << " is input " << k << "\n"
            << program::text_of(graph);
      }
    }
  }
  EXPECT_GT(tried, 1);
}

// Layers of a network are compiled once, and constants count.
TEST(NativeTest, WhatRepeatsIsOneFunction) {
  Graph graph;
  Id x = graph.input(program::DType::f32, {40, 40}).value();
  const Id y = graph.input(program::DType::f32, {40, 40}).value();
  for (int i = 0; i < 5; ++i) {
    x = graph.add_node(Op::matmul, {x, y}).value();
    const Id number = graph.number(i == 4 ? 0.5 : 0.25, program::DType::f32);
    x = graph.add_node(Op::maximum, {graph.add_node(Op::multiply, {x, number}).value(), y}).value();
  }
  graph.set_outputs({x});
  const auto made = Program::compile(graph).value();
  const Alternatives alternatives(*made);
  EXPECT_EQ(alternatives.stretches(), 5u);
  EXPECT_GT(alternatives.functions(), 1u);
  EXPECT_LT(alternatives.functions(), 5u);
  RandomValues random(5);
  const std::vector<Values> inputs = random_inputs(graph, random, false);
  const std::vector<Values> expected = program::run_values(*made, inputs);
  ASSERT_TRUE(take_compiled(*made));
  expect_same(*made, inputs, expected);
}

// Each operation on numbers that it treats in a way of their own, and on many others.
TEST(NativeTest, OperationsGiveTheSameBitsForAllKindsOfNumbers) {
  std::vector<float> numbers = program::special_floats();
  for (uint64_t bits = 0; bits < 0xffff'ffffu; bits += 160'111) {
    const auto low = static_cast<uint32_t>(bits);
    float number = 0;
    std::memcpy(&number, &low, sizeof(number));
    numbers.push_back(number);
  }
  // Pairs of the special ones, too.
  std::vector<float> others(numbers.size());
  for (size_t i = 0; i < others.size(); ++i) others[i] = numbers[(i * 7 + i / 26) % 26];
  const auto count = static_cast<int64_t>(numbers.size());
  for (const program::DType dtype : {program::DType::f32, program::DType::f64}) {
    Graph graph;
    Id x = graph.input(program::DType::f32, {count}).value();
    Id y = graph.input(program::DType::f32, {count}).value();
    x = graph.cast(x, dtype).value();
    y = graph.cast(y, dtype).value();
    std::vector<Id> outputs;
    const auto add = [&](Id made) {
      outputs.push_back(graph.add_node(Op::negate, {made}).value());
    };
    for (const Op op : {Op::log, Op::log1p, Op::log2, Op::sqrt, Op::rsqrt, Op::floor, Op::ceil,
                        Op::trunc, Op::round, Op::sign, Op::absolute, Op::relu}) {
      add(graph.add_node(op, {x}).value());
    }
    for (const Op op :
         {Op::add, Op::subtract, Op::multiply, Op::divide, Op::minimum, Op::maximum}) {
      add(graph.add_node(op, {x, y}).value());
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bound : {0.0, -0.0, 1.5, -1.5, infinity, -infinity, nan}) {
      const Id number = graph.number(bound, dtype);
      add(graph.add_node(Op::minimum, {x, number}).value());
      add(graph.add_node(Op::maximum, {number, x}).value());
    }
    for (const Op op :
         {Op::equal, Op::not_equal, Op::less, Op::less_equal, Op::greater, Op::greater_equal}) {
      const Id truth = graph.add_node(op, {x, y}).value();
      add(graph.add_node(Op::where, {truth, x, y}).value());
      const Id both =
          graph.add_node(Op::bitwise_xor, {truth, graph.add_node(Op::less, {y, x}).value()})
              .value();
      outputs.push_back(graph.add_node(Op::bitwise_invert, {both}).value());
    }
    graph.set_outputs(outputs);
    program::CompileOptions options;
    options.canonicalises = false;
    const auto made = Program::compile(graph, options).value();
    const std::vector<Values> inputs = {Values(numbers), Values(others)};
    const std::vector<Values> expected = program::run_values(*made, inputs);
    ASSERT_TRUE(take_compiled(*made));
    ASSERT_NO_FATAL_FAILURE(expect_same(*made, inputs, expected));
  }
}

// From each type to each other one, with numbers beyond what it has.
TEST(NativeTest, CastsGiveTheSameBits) {
  using program::DType;
  constexpr DType kTypes[] = {DType::boolean, DType::f16, DType::bf16, DType::f32, DType::f64,
                              DType::i8,      DType::i16, DType::i32,  DType::i64, DType::u8,
                              DType::u16,     DType::u32, DType::u64};
  RandomValues random(test_seed());
  for (const DType from : kTypes) {
    Graph graph;
    const Id x = graph.input(from, {700}).value();
    const Id y = graph.input(from, {700}).value();
    const bool is_truth = from == DType::boolean;
    const Id both = graph.add_node(is_truth ? Op::bitwise_or : Op::add, {x, y}).value();
    std::vector<Id> outputs;
    for (const DType to : kTypes) outputs.push_back(graph.cast(both, to).value());
    graph.set_outputs(outputs);
    const auto made = Program::compile(graph).value();
    const std::vector<Values> inputs = random_inputs(graph, random, true);
    const std::vector<Values> expected = program::run_values(*made, inputs);
    ASSERT_TRUE(take_compiled(*made));
    ASSERT_NO_FATAL_FAILURE(expect_same(*made, inputs, expected));
  }
}

}  // namespace
}  // namespace hoist::graph::native
