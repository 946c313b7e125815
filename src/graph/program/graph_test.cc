#include "graph/program/graph.h"

#include <gtest/gtest.h>

#include "graph/program/interpreter.h"
#include "graph/program/program.h"

namespace hoist::graph::program {
namespace {

TEST(GraphTest, TheSameNodeIsMadeOnce) {
  Graph graph;
  const Id x = *graph.input(DType::f32, {2, 3});
  const Id y = *graph.input(DType::f32, {2, 3});
  EXPECT_NE(x, y);
  EXPECT_EQ(*graph.add_node(Op::add, {x, y}), *graph.add_node(Op::add, {y, x}));
  EXPECT_NE(*graph.add_node(Op::subtract, {x, y}), *graph.add_node(Op::subtract, {y, x}));
  EXPECT_EQ(graph.number(1.5f), graph.number(1.5f));
  EXPECT_NE(graph.number(0.0f), graph.number(-0.0f));
  EXPECT_EQ(*graph.reduce(Op::sum, x, {-1}, true), *graph.reduce(Op::sum, x, {1}, true));
}

TEST(GraphTest, ShapesAreInferred) {
  Graph graph;
  const auto shape = [&](const Result<Id>& id) { return graph[id.value()].shape; };
  const Id x = *graph.input(DType::f32, {4, 1, 3});
  const Id y = *graph.input(DType::f32, {5, 1});
  EXPECT_EQ(shape(graph.add_node(Op::add, {x, y})), (Extents{4, 5, 3}));
  EXPECT_EQ(shape(graph.reduce(Op::sum, x, {}, false)), Extents());
  EXPECT_EQ(shape(graph.reduce(Op::mean, x, {0, -1}, false)), Extents{1});
  EXPECT_EQ(shape(graph.reduce(Op::mean, x, {0}, true)), (Extents{1, 1, 3}));
  EXPECT_EQ(shape(graph.reshape(x, {2, -1})), (Extents{2, 6}));
  EXPECT_EQ(shape(graph.permute(x, {2, 0, 1})), (Extents{3, 4, 1}));
  const Id b = *graph.input(DType::f32, {7, 3, 6});
  EXPECT_EQ(shape(graph.add_node(Op::matmul,
                                 {*graph.broadcast(*graph.reshape(x, {4, 3}), {7, 4, 3}), b})),
            (Extents{7, 4, 6}));
  EXPECT_EQ(shape(graph.concatenate({y, y, y}, 0)), (Extents{15, 1}));
  EXPECT_EQ(shape(graph.slice(y, {4, 0}, {2, 1}, {-3, 1})), (Extents{2, 1}));
  EXPECT_EQ(graph[*graph.add_node(Op::less, {x, y})].dtype, DType::boolean);
}

TEST(GraphTest, EmptyArraysHaveNoHugeExtents) {
  constexpr int64_t kHuge = int64_t{1} << 60;
  EXPECT_EQ(element_count({kHuge, kHuge, 0}), 0);
  EXPECT_EQ(element_count({0, kHuge, kHuge}), 0);
  EXPECT_EQ(element_count({kHuge, kHuge}), INT64_MAX);
  Graph graph;
  // Their strides would be beyond 64 bits.
  EXPECT_EQ(graph.input(DType::f32, {kHuge, kHuge, 0}).error().code, ErrorCode::invalid_argument);
  const Id x = *graph.input(DType::f32, {1 << 30, 0});
  EXPECT_EQ(graph[x].elements(), 0);
  EXPECT_EQ(graph[*graph.reshape(x, {0, 3})].shape, (Extents{0, 3}));
  EXPECT_EQ(graph[*graph.add_node(Op::exp, {x})].elements(), 0);
}

// What is wrong is said with the shapes.
TEST(GraphTest, WhatDoesNotFitIsRefused) {
  Graph graph;
  const Id x = *graph.input(DType::f32, {2, 3});
  const Id y = *graph.input(DType::f32, {4, 3});
  const Id empty = *graph.input(DType::f32, {0, 3});
  const Id truth = *graph.input(DType::boolean, {2, 3});
  const auto refused = [](const Result<Id>& id, ErrorCode code, const char* part) {
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().code, code);
    EXPECT_NE(id.error().message.find(part), std::string::npos) << id.error().message;
  };
  const ErrorCode wrong = ErrorCode::invalid_argument;
  refused(graph.add_node(Op::add, {x, y}), wrong, "add of shapes (2, 3) and (4, 3): axis 0");
  refused(graph.add_node(Op::matmul, {x, y}), wrong, "matmul of (2, 3) and (4, 3)");
  refused(graph.add_node(Op::exp, {truth}), wrong, "exp takes floats, not bool");
  refused(graph.add_node(Op::where, {x, x, x}), wrong, "where takes bool");
  refused(graph.add_node(Op::where, {truth, x, truth}), wrong, "one type");
  refused(graph.reduce(Op::sum, x, {2}, true), wrong, "axis 2");
  refused(graph.reduce(Op::sum, x, {1, -1}, true), wrong, "given twice");
  refused(graph.reduce(Op::sum, truth, {1}, true), wrong, "booleans");
  refused(graph.reduce(Op::reduce_maximum, empty, {0}, true), wrong, "no elements");
  refused(graph.reshape(x, {4, -1}), wrong, "reshape of (2, 3)");
  refused(graph.reshape(x, {int64_t{1} << 40, int64_t{1} << 40}), wrong, "");
  refused(graph.input(DType::f32, {int64_t{1} << 62, 0}), wrong, "2^40");
  const Id tall = *graph.input(DType::f32, {int64_t{1} << 30, 1});
  const Id wide = *graph.input(DType::f32, {1, int64_t{1} << 30});
  refused(graph.add_node(Op::add, {tall, wide}), wrong, "2^40");
  refused(graph.add_node(Op::matmul, {tall, wide}), wrong, "2^40");
  refused(graph.slice(x, {1, 0}, {2, 3}, {INT64_MAX, 1}), wrong, "axis 0");
  refused(graph.slice(x, {0, 0}, {0, INT64_MAX}, {1, INT64_MIN}), wrong, "axis 1");
  refused(graph.permute(x, {0, 0}), wrong, "each axis once");
  refused(graph.broadcast(x, {3}), wrong, "broadcast_to");
  refused(graph.slice(x, {0, 0}, {3, 3}, {1, 1}), wrong, "axis 0");
  refused(graph.slice(x, {0, 0}, {2, 3}, {1, 0}), wrong, "axis 1");
  refused(graph.concatenate({x, y}, 1), wrong, "concat of (2, 3) and (4, 3)");
  refused(graph.concatenate({}, 0), wrong, "nothing");
  refused(graph.input(DType::c64, {2}), ErrorCode::unsupported, "complex64");
  const Id whole = *graph.input(DType::i8, {2, 3});
  refused(graph.add_node(Op::add, {x, whole}), wrong, "float32 and int8: give both one type");
  refused(graph.add_node(Op::divide, {whole, whole}), wrong, "divide takes floats, not int8");
  refused(graph.input(DType::f32, Extents(9, 1)), ErrorCode::unsupported, "9 axes");
}

TEST(GraphTest, ArithmeticOfNarrowTypesIsThatOfTheirLanes) {
  Graph graph;
  const auto dtype = [&](const Result<Id>& id) { return graph[id.value()].dtype; };
  const Id half = *graph.input(DType::f16, {2, 3});
  const Id byte = *graph.input(DType::u8, {2, 3});
  const Id sum = *graph.add_node(Op::add, {half, half});
  EXPECT_EQ(graph[sum].op, Op::cast);
  EXPECT_EQ(graph[sum].dtype, DType::f16);
  EXPECT_EQ(graph[graph[sum].inputs[0]].dtype, DType::f32);
  EXPECT_EQ(graph[*graph.add_node(Op::maximum, {half, half})].op, Op::maximum);
  EXPECT_EQ(dtype(graph.add_node(Op::less, {byte, byte})), DType::boolean);
  EXPECT_EQ(dtype(graph.reduce(Op::sum, byte, {}, false)), DType::u64);
  EXPECT_EQ(dtype(graph.reduce(Op::mean, byte, {}, false)), DType::f32);
  EXPECT_EQ(dtype(graph.reduce(Op::argmax, byte, {}, true)), DType::i64);
  EXPECT_EQ(dtype(graph.cumulative_sum(half, 1)), DType::f16);
  EXPECT_EQ(graph[*graph.take_along(half, *graph.input(DType::u8, {1, 7}), -1)].shape,
            (Extents{2, 7}));
  EXPECT_EQ(graph.number(-0.0, DType::f64), graph.number(-0.0, DType::f64));
  EXPECT_EQ(graph[graph.integer(300, DType::u8)].number(), 44);
}

// Constants whose indices lie outside are not folded: the program says so when it runs.
TEST(GraphTest, AnIndexOutsideIsSaidWhenAProgramRuns) {
  Graph graph;
  const Id x = *graph.constant(DType::f32, {3}, std::make_shared<const Values>(Values{1, 2, 3}));
  const Id at = *graph.constant(DType::i64, {1}, std::make_shared<const Values>(Values::I64{3}));
  graph.set_outputs({*graph.take_along(x, at, 0)});
  EXPECT_EQ(interpret(graph, {}).error().code, ErrorCode::invalid_argument);
  const auto program = Program::compile(graph).value();
  float result = 7;
  void* const out = &result;
  const Status done = program->run({}, {&out, 1});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(done.error().message.find("index 3 of axis 0 with 3 elements"), std::string::npos);
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace hoist::graph::program
