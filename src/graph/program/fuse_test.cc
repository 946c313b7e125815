// How many kernels the usual models are.
#include "graph/program/fuse.h"

#include <gtest/gtest.h>

#include "graph/program/composites.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

// Nodes of a model, without their Results.
struct Model {
  Graph graph;
  Id in(Extents shape) { return *graph.input(DType::f32, std::move(shape)); }
  Id operator()(Op op, std::vector<Id> inputs) {
    return graph.add_node(op, std::move(inputs)).value();
  }
  Id dense(Id x, int64_t width) {
    const Id product = (*this)(Op::matmul, {x, in({graph[x].shape.back(), width})});
    return (*this)(Op::add, {product, in({width})});
  }
  Id norm(Id x) {
    const int64_t width = graph[x].shape.back();
    const Id scaled = (*this)(Op::multiply, {normalise(graph, x, 1e-5f).value(), in({width})});
    return (*this)(Op::add, {scaled, in({width})});
  }
};

// Kernels, checked against the interpreter.
size_t kernels(Model& model, std::vector<Id> outputs) {
  model.graph.set_outputs(std::move(outputs));
  RandomValues random(test_seed());
  check_all_ways(model.graph, random, false);
  const auto program = Program::compile(model.graph).value();
  std::printf("%zu nodes, %zu kernels, %llu bytes moved, %zu planned\n",
              program->report().nodes_traced, program->kernels().size(),
              static_cast<unsigned long long>(program->report().bytes_moved),
              program->report().arena_bytes);
  return program->kernels().size();
}

TEST(FuseTest, SoftmaxOfAnyAxisIsOneKernel) {
  for (const int64_t axis : {-1, 0, 1}) {
    Model model;
    EXPECT_EQ(kernels(model, {softmax(model.graph, model.in({5, 7, 9}), axis).value()}), 1u);
  }
  Model model;
  EXPECT_EQ(kernels(model, {log_softmax(model.graph, model.in({3, 5000}), -1).value()}), 1u);
}

TEST(FuseTest, ColumnsAreReducedInOneKernel) {
  for (const Extents& shape : {Extents{1500, 40}, Extents{40, 1500}, Extents{33000, 3}}) {
    Model model;
    const Id x = model.in(shape);
    EXPECT_EQ(kernels(model, {softmax(model.graph, x, 0).value()}), 1u);
    Model second;
    const Id y = second(Op::exp, {second.in(shape)});
    const Id repeated = *second.graph.broadcast(second.in({1, shape[1]}), shape);
    const Id sums = *second.graph.reduce(Op::sum, y, {0}, true);
    kernels(second, {sums, *second.graph.reduce(Op::mean, repeated, {0}, false)});
  }
}

TEST(FuseTest, LayerNormIsOneKernel) {
  for (const int64_t width : {1, 2, 64, 1500}) {
    Model model;
    EXPECT_EQ(kernels(model, {model.norm(model.in({6, width}))}), 1u);
  }
}

TEST(FuseTest, AChainIsOneKernelInPlace) {
  Model model;
  Id x = model.in({100, 30});
  for (int i = 0; i < 10; ++i) x = model(Op::add, {model(Op::tanh, {x}), model.graph.number(0.5f)});
  EXPECT_EQ(kernels(model, {x}), 1u);
  EXPECT_EQ(Program::compile(model.graph).value()->report().arena_bytes, 0u);
}

// What takes more than a few steps for each node would not end.
TEST(FuseTest, LongChainsAndManyReadersAreOneKernel) {
  constexpr int kNodes = 50'000;
  Model chain;
  Id x = chain.in({4});
  for (int i = 0; i < kNodes; ++i) x = chain(i % 2 == 0 ? Op::sqrt : Op::negate, {x});
  chain.graph.set_outputs({x});
  EXPECT_EQ(Program::compile(chain.graph).value()->kernels().size(), 1u);
  Model readers;
  const Id first = readers(Op::exp, {readers.in({4})});
  Id sum = first;
  for (int i = 0; i < kNodes / 2; ++i) {
    sum = readers(Op::add, {readers(Op::maximum, {first, sum}), sum});
  }
  readers.graph.set_outputs({sum});
  EXPECT_EQ(Program::compile(readers.graph).value()->kernels().size(), 1u);
}

// Two kernels of several nodes become one by a node that reads both.
TEST(FuseTest, LargeKernelsMeet) {
  Model model;
  const Id x = model.in({8, 16});
  std::vector<Id> ends;
  for (const Op op : {Op::exp, Op::tanh, Op::sigmoid}) {
    Id end = model(op, {model.in({8, 16})});
    for (int i = 0; i < 5; ++i) end = model(Op::add, {model(op, {end}), x});
    ends.push_back(end);
  }
  const Id sums = *model.graph.reduce(Op::sum, ends[0], {1}, true);
  const Id joined = model(Op::multiply, {model(Op::add, {ends[1], sums}), ends[2]});
  EXPECT_EQ(kernels(model, {joined}), 1u);
  // By rows and by columns they do not meet.
  const Id columns = *model.graph.reduce(Op::sum, ends[1], {0}, true);
  EXPECT_GE(kernels(model, {model(Op::multiply, {joined, columns})}), 2u);
}

TEST(FuseTest, AProductHasWhatFollowsIt) {
  Model model;
  const Id x = model.in({2, 10, 16});
  const Id hidden = gelu_tanh(model.graph, model.dense(x, 40)).value();
  EXPECT_EQ(kernels(model, {model.norm(model(Op::add, {model.dense(hidden, 16), x}))}), 2u);
}

TEST(FuseTest, LstmStep) {
  Model model;
  const int64_t width = 32;
  const Id x = model.in({4, 20});
  const Id h = model.in({4, width});
  const Id c = model.in({4, width});
  const Id gates = model(
      Op::add, {model.dense(x, 4 * width), model(Op::matmul, {h, model.in({width, 4 * width})})});
  const auto gate = [&](int64_t i) {
    return *model.graph.slice(gates, {0, i * width}, {4, width}, {1, 1});
  };
  const Id in = model(Op::sigmoid, {gate(0)});
  const Id forget = model(Op::sigmoid, {gate(1)});
  const Id cell = model(Op::tanh, {gate(2)});
  const Id out = model(Op::sigmoid, {gate(3)});
  const Id next =
      model(Op::add, {model(Op::multiply, {forget, c}), model(Op::multiply, {in, cell})});
  const Id state = model(Op::multiply, {out, model(Op::tanh, {next})});
  const size_t count = kernels(model, {state, next});
  EXPECT_LE(4 * count, model.graph.primitives());
}

TEST(FuseTest, TransformerLayer) {
  Model model;
  const int64_t width = 24;
  const int64_t heads = 3;
  const Id x = model.in({2, 7, width});
  const auto split = [&](Id id) {
    return *model.graph.permute(*model.graph.reshape(id, {2, 7, heads, -1}), {0, 2, 1, 3});
  };
  const Id q = split(model.dense(x, width));
  const Id k = *model.graph.permute(split(model.dense(x, width)), {0, 1, 3, 2});
  const Id v = split(model.dense(x, width));
  const Id scores = model(Op::multiply, {model(Op::matmul, {q, k}), model.graph.number(0.35f)});
  const Id context = model(Op::matmul, {softmax(model.graph, scores, -1).value(), v});
  const Id merged =
      *model.graph.reshape(*model.graph.permute(context, {0, 2, 1, 3}), {2, 7, width});
  const Id first = model.norm(model(Op::add, {model.dense(merged, width), x}));
  const Id hidden = gelu_erf(model.graph, model.dense(first, 4 * width)).value();
  const Id second = model.norm(model(Op::add, {model.dense(hidden, width), first}));
  const size_t count = kernels(model, {second});
  EXPECT_LE(4 * count, model.graph.primitives());
}

// Roots of variances are computed once for a row; they are an output, too, or have another reader.
TEST(FuseTest, NumbersOfRowsJoinTheirReader) {
  for (const int64_t width : {3, 40, 3000}) {
    Model model;
    const Id x = model.in({4, 6, width});
    const Id roots = model(Op::rsqrt, {model(Op::add, {model.in({4, 6, 1}), model.in({6, 1})})});
    const Id scaled = model(Op::multiply, {model(Op::subtract, {x, model.in({6, 1})}), roots});
    EXPECT_EQ(kernels(model, {scaled}), 1u);
    EXPECT_EQ(kernels(model, {scaled, roots}), 1u);
    const Id sums = *model.graph.reduce(Op::sum, roots, {0}, true);
    EXPECT_EQ(kernels(model, {scaled, sums}), 2u);
  }
}

// What is only reshaped at the end is written at once, and may be several outputs.
TEST(FuseTest, ReshapedOutputsAreNoCopies) {
  Model model;
  const Id x = model.in({4, 6, 10});
  const Id y = model(Op::exp, {x});
  const Id flat = *model.graph.reshape(y, {24, 10});
  EXPECT_EQ(kernels(model, {flat}), 1u);
  EXPECT_EQ(kernels(model, {flat, y, flat}), 1u);
  EXPECT_EQ(Program::compile(model.graph).value()->output(0).shape, Extents({24, 10}));
  EXPECT_EQ(kernels(model, {*model.graph.reshape(x, {240})}), 1u);
  EXPECT_EQ(kernels(model, {*model.graph.slice(y, {0, 0, 0}, {2, 6, 10}, {1, 1, 1})}), 2u);
  EXPECT_EQ(kernels(model, {*model.graph.permute(y, {0, 2, 1}), y}), 2u);
}

// A third kernel that must run between two keeps them apart.
TEST(FuseTest, WhatWouldWaitForItselfStaysApart) {
  Model model;
  const Id x = model.in({8, 8});
  const Id a = model(Op::exp, {x});
  const Id product = model(Op::matmul, {a, a});
  const Id turned = *model.graph.permute(a, {1, 0});
  kernels(model, {model(Op::add, {model(Op::add, {product, a}), turned})});
  Model second;
  const Id y = second.in({8, 8});
  const Id sums = *second.graph.reduce(Op::sum, y, {1}, false);
  kernels(second, {second(Op::subtract, {y, sums})});
}

}  // namespace
}  // namespace hoist::graph::program
