#include "graph/program/program.h"

#include <gtest/gtest.h>

#include <climits>
#include <thread>
#include <tuple>

#include "graph/program/composites.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

using array::View;

View view(std::vector<float>& values, std::initializer_list<uint64_t> shape) {
  return View::of(values.data(), DType::f32, std::vector<uint64_t>(shape)).value();
}

// y = x + 1, its columns' sums, and y again.
std::shared_ptr<const Program> small_program() {
  Graph graph;
  const Id x = *graph.input(DType::f32, {2, 3});
  const Id y = *graph.add_node(Op::add, {x, graph.number(1)});
  graph.set_outputs({y, *graph.reduce(Op::sum, y, {0}, false), y});
  return Program::compile(graph).value();
}

TEST(ProgramTest, ViewsAreComputedWith) {
  const auto program = small_program();
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<float> y(6);
  std::vector<float> sums(3);
  std::vector<float> again(6);
  const std::vector<View> outputs = {view(y, {2, 3}), view(sums, {3}), view(again, {2, 3})};
  ASSERT_TRUE(program->run(std::vector<View>{view(x, {2, 3})}, outputs));
  EXPECT_EQ(y, (std::vector<float>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(sums, (std::vector<float>{7, 9, 11}));
  EXPECT_EQ(again, y);
}

TEST(ProgramTest, WhatDoesNotFitIsRefused) {
  const auto program = small_program();
  std::vector<float> x(6);
  std::vector<float> y(6);
  std::vector<float> sums(3);
  std::vector<float> again(6);
  const auto refused = [&](const View& input, const std::vector<View>& outputs, ErrorCode code,
                           const char* part) {
    const Status done = program->run(std::vector<View>{input}, outputs);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, code);
    EXPECT_NE(done.error().message.find(part), std::string::npos) << done.error().message;
  };
  const std::vector<View> outputs = {view(y, {2, 3}), view(sums, {3}), view(again, {2, 3})};
  refused(view(x, {3, 2}), outputs, ErrorCode::invalid_argument, "input 0 is float32 of shape");
  refused(view(x, {2, 3}), {outputs[0]}, ErrorCode::invalid_argument, "1 inputs and 3 outputs");
  refused(view(x, {2, 3}), {outputs[1], outputs[1], outputs[2]}, ErrorCode::invalid_argument,
          "output 0");
  View elsewhere = view(x, {2, 3});
  elsewhere.device.kind = array::DeviceKind::cuda;
  refused(elsewhere, outputs, ErrorCode::unsupported, "CPU");
  View gaps = view(x, {2, 3});
  gaps.strides[1] = 0;
  refused(gaps, outputs, ErrorCode::unsupported, "gaps");
  EXPECT_EQ(Program::compile(Graph()).error().code, ErrorCode::invalid_argument);
}

// As if the inputs had been copied first.
TEST(ProgramTest, OutputsMayOverlapInputs) {
  Graph graph;
  const Id x = *graph.input(DType::f32, {100});
  const Id turned = *graph.slice(x, {99}, {100}, {-1});
  graph.set_outputs({*graph.add_node(Op::subtract, {turned, x})});
  const auto program = Program::compile(graph).value();
  RandomValues random(test_seed());
  for (const size_t shift : {0, 1, 50}) {
    Values memory = random.values(graph[x], false);
    const Values before = memory;
    memory.resize(200);
    const void* const from = memory.data();
    void* const to = memory.data() + shift;
    ASSERT_TRUE(program->run({&from, 1}, {&to, 1}));
    for (size_t i = 0; i < 100; ++i) ASSERT_EQ(memory[shift + i], before[99 - i] - before[i]);
  }
}

TEST(ProgramTest, OutputsMayNotOverlapEachOther) {
  const auto program = small_program();
  const Values x = {1, 2, 3, 4, 5, 6};
  const void* const from = x.data();
  Values memory(15, -1.0f);
  const auto run = [&](size_t y, size_t sums, size_t again) {
    void* const to[] = {memory.data() + y, memory.data() + sums, memory.data() + again};
    return program->run({&from, 1}, to);
  };
  for (const auto& [y, sums, again, pair] :
       std::vector<std::tuple<size_t, size_t, size_t, const char*>>{{0, 0, 9, "0 and 1"},
                                                                    {0, 5, 9, "0 and 1"},
                                                                    {2, 0, 9, "0 and 1"},
                                                                    {0, 9, 0, "0 and 2"},
                                                                    {0, 6, 5, "0 and 2"},
                                                                    {0, 9, 11, "1 and 2"}}) {
    const Status done = run(y, sums, again);
    ASSERT_FALSE(done) << y << " " << sums << " " << again;
    EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(done.error().message.find(pair), std::string::npos) << done.error().message;
    EXPECT_EQ(memory, Values(15, -1.0f));
  }
  ASSERT_TRUE(run(3, 0, 9));
  EXPECT_EQ(memory, (Values{7, 9, 11, 2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7}));
}

TEST(ProgramTest, EmptyOutputsMayLieAnywhere) {
  Graph graph;
  const Id x = *graph.input(DType::f32, {0});
  const Id y = *graph.input(DType::f32, {3});
  graph.set_outputs({*graph.add_node(Op::negate, {x}), *graph.add_node(Op::negate, {y})});
  const auto program = Program::compile(graph).value();
  Values memory = {1, 2, 3};
  const void* const from[] = {memory.data() + 1, memory.data()};
  void* const to[] = {memory.data() + 1, memory.data()};
  ASSERT_TRUE(program->run(from, to));
  EXPECT_EQ(memory, (Values{-1, -2, -3}));
}

// Memory is for as many threads as there are.
TEST(ProgramTest, AnyNumberOfThreadsMayBeAllowed) {
  RandomValues random(test_seed());
  Graph graph;
  const Id x = *graph.input(DType::f32, {300, 300});
  graph.set_outputs({softmax(graph, x, 1).value()});
  const std::vector<Values> inputs = {random.values(graph[x], false)};
  CompileOptions options;
  options.threads = 1;
  const Values expected = run_values(*Program::compile(graph, options).value(), inputs)[0];
  for (const int threads : {2, 1'000'000, INT_MAX}) {
    options.threads = threads;
    const auto program = Program::compile(graph, options).value();
    for (int call = 0; call < 5; ++call) {
      EXPECT_TRUE(same_values(run_values(*program, inputs)[0], expected)) << threads;
    }
  }
  for (const int threads : {-1, INT_MIN}) {
    options.threads = threads;
    EXPECT_EQ(Program::compile(graph, options).error().code, ErrorCode::invalid_argument);
  }
}

TEST(ProgramTest, ManyThreadsRunOneProgram) {
  RandomValues random(test_seed());
  Graph graph;
  const Id x = *graph.input(DType::f32, {300, 700});
  const Id w = *graph.input(DType::f32, {700, 80});
  const Id product = *graph.add_node(Op::matmul, {softmax(graph, x, 1).value(), w});
  graph.set_outputs({gelu_tanh(graph, product).value()});
  CompileOptions options;
  options.threads = 4;
  const auto program = Program::compile(graph, options).value();
  const std::vector<Values> inputs = {random.values(graph[x], false),
                                      random.values(graph[w], false)};
  const Values expected = run_values(*program, inputs)[0];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(same_values(run_values(*program, inputs)[0], expected));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Whatever rows a thread takes, with what follows the product or without. CMakeLists.txt has the
// runs with other instruction sets.
TEST(ProgramTest, ThreadsChangeNoResult) {
  RandomValues random(test_seed());
  for (const auto& [rows, depth, columns] : std::vector<std::array<int64_t, 3>>{
           {200, 1000, 1000}, {131, 1300, 512}, {33, 700, 900}, {3, 3000, 700}, {500, 90, 200}}) {
    Graph graph;
    const Id x = *graph.input(DType::f32, {rows, depth});
    const Id w = *graph.input(DType::f32, {depth, columns});
    const Id product = *graph.add_node(Op::matmul, {x, w});
    const Id scaled = *graph.add_node(Op::multiply, {product, graph.number(0.01f)});
    graph.set_outputs({softmax(graph, scaled, 1).value(), product});
    const std::vector<Values> inputs = {random.values(graph[x], false),
                                        random.values(graph[w], false)};
    std::vector<Values> expected;
    for (const int threads : {1, 2, 5}) {
      CompileOptions options;
      options.threads = threads;
      const auto program = Program::compile(graph, options).value();
      for (int call = 0; call < 5; ++call) {  // the first ones are timed
        const std::vector<Values> found = run_values(*program, inputs);
        if (expected.empty()) expected = found;
        for (size_t i = 0; i < found.size(); ++i) {
          ASSERT_TRUE(same_values(found[i], expected[i])) << rows << " rows, " << threads;
        }
      }
    }
  }
}

// Products of more than 512 terms are within their bound, and of more than 3 rows the
// interpreter's.
TEST(ProgramTest, DeepProducts) {
  RandomValues random(test_seed());
  for (const int64_t rows : {1, 3, 4, 150}) {
    Graph graph;
    const Id a = *graph.input(DType::f32, {rows, 700});
    const Id b = *graph.input(DType::f32, {190, 700});
    const Id product = *graph.add_node(Op::matmul, {a, *graph.permute(b, {1, 0})});
    graph.set_outputs({*graph.add_node(Op::negate, {product})});
    const auto program = Program::compile(graph).value();
    const std::vector<Values> inputs = {random.values(graph[a], false),
                                        random.values(graph[b], false)};
    const Values found = run_values(*program, inputs)[0];
    if (rows > 3) {
      EXPECT_TRUE(same_values(found, interpret(graph, inputs).value()[0])) << rows;
    }
    for (size_t i = 0; i < found.size(); ++i) {
      double sum = 0;
      double sizes = 0;
      for (size_t p = 0; p < 700; ++p) {
        const double term = double{inputs[0][i / 190 * 700 + p]} * inputs[1][i % 190 * 700 + p];
        sum += term;
        sizes += std::fabs(term);
      }
      ASSERT_LE(std::fabs(found[i] + sum), 700 * 0x1p-24 * sizes) << i;
    }
  }
}

}  // namespace
}  // namespace hoist::graph::program
