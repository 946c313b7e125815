// Programs on a GPU against the interpreter of graphs, node by node.
#include <gtest/gtest.h>

#include <thread>

#include "graph/gpu/gpu_testing.h"

namespace hoist::graph::gpu {
namespace {

TEST_F(GpuProgramTest, RandomGraphsGiveWhatTheInterpreterGives) {
  RandomValues seeds(test_seed());
  for (int i = 0; i < 40; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Graph graph = program::RandomGraph(random).make(1 + random.below(20));
    const size_t shift = random.below(5) == 0 ? 8 : 0;
    ASSERT_NO_FATAL_FAILURE(check_nodes(graph, random, random.below(2) == 0, shift));
  }
}

TEST_F(GpuProgramTest, ReductionsOfAllShapes) {
  RandomValues random(test_seed());
  const std::vector<std::pair<Extents, Extents>> cases = {
      {{5, 3}, {1}},          {{40000, 16}, {1}}, {{1000, 768}, {1}},  {{3, 1024}, {1}},
      {{2, 50000}, {1}},      {{1 << 21}, {0}},   {{5000, 1000}, {0}}, {{100000, 33}, {0}},
      {{30, 50, 40}, {0, 2}}, {{9, 40000}, {1}},  {{4, 1 << 18}, {1}}, {{300, 9000}, {1}},
  };
  for (const auto& [shape, axes] : cases) {
    SCOPED_TRACE(program::text_of(shape) + " over " + program::text_of(axes));
    Graph graph;
    const program::Id x = graph.input(DType::f32, shape).value();
    const program::Id most = graph.reduce(Op::reduce_maximum, x, axes, true).value();
    const program::Id e =
        graph.add_node(Op::exp, {graph.add_node(Op::subtract, {x, most}).value()}).value();
    const program::Id sum = graph.reduce(Op::sum, e, axes, true).value();
    graph.set_outputs({graph.add_node(Op::divide, {e, sum}).value(),
                       graph.reduce(Op::mean, x, axes, false).value(),
                       graph.reduce(Op::reduce_minimum, x, axes, false).value()});
    ASSERT_NO_FATAL_FAILURE(check_nodes(graph, random, false));
  }
}

// Places, running sums and elements at indices, of rows that threads, warps, blocks and several
// blocks take.
TEST_F(GpuProgramTest, AlongAxesOfAllShapes) {
  RandomValues random(test_seed());
  const std::vector<std::pair<Extents, int64_t>> cases = {
      {{5, 3}, 1},      {{40000, 16}, 1},  {{1000, 768}, 1},  {{3, 1024}, 1},  {{2, 50000}, 1},
      {{1 << 20}, 0},   {{5000, 1000}, 0}, {{100000, 33}, 0}, {{9, 40000}, 1}, {{30, 50, 40}, 1},
      {{300, 9000}, 1}, {{1 << 22}, 0},    {{5000, 4096}, 0}, {{50001, 2}, 0},
  };
  for (const auto& [shape, axis] : cases) {
    for (const DType dtype : {DType::f32, DType::i32}) {
      SCOPED_TRACE(program::text_of(shape) + " over " + std::to_string(axis));
      Graph graph;
      const program::Id x = graph.input(dtype, shape).value();
      const program::Id most = graph.reduce(Op::argmax, x, {axis}, true).value();
      const program::Id least = graph.reduce(Op::argmin, x, {axis}, true).value();
      graph.set_outputs(
          {most, least, graph.cumulative_sum(x, axis).value(),
           graph.take_along(x, most, axis).value(),
           graph.take_along(x, graph.add_node(Op::negate, {least}).value(), axis).value()});
      ASSERT_NO_FATAL_FAILURE(check_nodes(graph, random, true));
    }
  }
}

// A network of one row is one kernel; what is run again with the same addresses is replayed where
// there are several.
TEST_F(GpuProgramTest, RunsAreReplayed) {
  Graph graph;
  program::Id x = graph.input(DType::f32, {64, 300}).value();
  for (const int64_t width : {500, 400}) {
    const program::Id w = graph.input(DType::f32, {graph[x].shape[1], width}).value();
    x = graph.add_node(Op::tanh, {graph.add_node(Op::matmul, {x, w}).value()}).value();
  }
  graph.set_outputs({x});
  const Graph prepared = program::prepare(graph);
  const auto program = GpuProgram::compile(prepared, device()).value();
  ASSERT_GT(program->launches(), 1u);
  RandomValues random(test_seed());
  std::vector<Values> inputs = random_inputs(prepared, random, false);
  std::vector<Buffer> from = uploaded(prepared, inputs);
  Buffer to = Buffer::allocate(device(), 64 * 400 * sizeof(float)).value();
  const std::vector<const void*> sources = {from[0].data(), from[1].data(), from[2].data()};
  const std::vector<void*> places = {to.data()};
  Stream stream = Stream::create(device()).value();
  const Node& output = prepared[prepared.outputs()[0]];
  Values first;
  for (int call = 0; call < 5; ++call) {
    ASSERT_TRUE(to.fill(std::byte{0xff}));
    ASSERT_TRUE(program->run(stream.handle(), sources, places));
    ASSERT_TRUE(stream.synchronize());
    const Values found = downloaded(output, to);
    if (call == 0) first = found;
    EXPECT_TRUE(program::same_values(found, first));
  }
  EXPECT_EQ(program->replays(), 4u);
  // Other values at the same addresses.
  for (float& value : inputs[0]) value = -value;
  ASSERT_TRUE(from[0].upload(bytes_of(prepared[prepared.inputs()[0]], inputs[0])));
  ASSERT_TRUE(program->run(stream.handle(), sources, places));
  ASSERT_TRUE(stream.synchronize());
  Values turned = downloaded(output, to);
  for (float& value : turned) value = -value;
  EXPECT_TRUE(program::same_values(turned, first));
}

TEST_F(GpuProgramTest, OutputsMayOverlapInputs) {
  Graph graph;
  const program::Id x = graph.input(DType::f32, {1000}).value();
  const program::Id y = graph.input(DType::f32, {1000}).value();
  const program::Id sum = graph.add_node(Op::add, {x, y}).value();
  const program::Id reversed = graph.slice(x, {999}, {1000}, {-1}).value();
  graph.set_outputs({sum, graph.add_node(Op::multiply, {reversed, y}).value(), sum});
  const Graph prepared = program::prepare(graph);
  const auto program = GpuProgram::compile(prepared, device()).value();
  RandomValues random(test_seed());
  const std::vector<Values> inputs = random_inputs(prepared, random, true);
  const std::vector<Values> expected = interpret(prepared, inputs).value();
  // Offsets in elements of the outputs in a buffer that begins with both inputs.
  const std::vector<std::vector<size_t>> cases = {
      {0, 2000, 3000},    {1000, 2000, 3000}, {2000, 0, 3000}, {500, 2000, 3000},
      {2500, 1500, 4000}, {2000, 3000, 4000}, {1004, 4, 3000}, {2001, 3003, 4006}};
  for (const std::vector<size_t>& offsets : cases) {
    for (int call = 0; call < 3; ++call) {
      std::vector<std::byte> bytes = bytes_of(prepared[prepared.inputs()[0]], inputs[0]);
      const std::vector<std::byte> more = bytes_of(prepared[prepared.inputs()[1]], inputs[1]);
      bytes.insert(bytes.end(), more.begin(), more.end());
      bytes.resize(6000 * sizeof(float));
      const Buffer all = Buffer::copy_of(device(), bytes).value();
      auto* const floats = static_cast<float*>(all.data());
      const std::vector<const void*> from = {floats, floats + 1000};
      std::vector<void*> to;
      for (const size_t offset : offsets) to.push_back(floats + offset);
      Stream stream = Stream::create(device()).value();
      ASSERT_TRUE(program->run(stream.handle(), from, to));
      ASSERT_TRUE(stream.synchronize());
      for (size_t o = 0; o < 3; ++o) {
        EXPECT_TRUE(program::same_values(
            downloaded(prepared[prepared.outputs()[o]], all, offsets[o] * sizeof(float)),
            expected[o]))
            << "output " << o << " at " << offsets[o];
      }
    }
  }
}

TEST_F(GpuProgramTest, SeveralThreadsAndStreams) {
  Graph graph;
  const program::Id x = graph.input(DType::f32, {400, 300}).value();
  const program::Id w = graph.input(DType::f32, {300, 500}).value();
  const program::Id product = graph.add_node(Op::matmul, {x, w}).value();
  graph.set_outputs({graph.reduce(Op::sum, product, {0}, false).value()});
  const Graph prepared = program::prepare(graph);
  const auto program = GpuProgram::compile(prepared, device()).value();
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    threads.emplace_back([&, seed] {
      RandomValues random(seed);
      const std::vector<Values> inputs = random_inputs(prepared, random, false);
      const Values first = run(*program, prepared, inputs)[0];
      for (int call = 0; call < 10; ++call) {
        EXPECT_TRUE(program::same_values(run(*program, prepared, inputs)[0], first));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::graph::gpu
