#include "graph/program/graph.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hoist::graph::program
