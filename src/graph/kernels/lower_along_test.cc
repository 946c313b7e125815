// Kernels of what goes along an axis, against the interpreter of graphs.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "graph/kernels/compiled_testing.h"

namespace hoist::graph::kernels {
namespace {

// Rows and columns of all lengths that kernels have ways of their own for.
const std::vector<std::pair<Extents, int64_t>> kCases = {
    {{1}, 0},       {{7}, 0},        {{5, 3}, 1},    {{40, 16}, 1},    {{700, 33}, 1},
    {{9, 300}, 1},  {{3, 1024}, 1},  {{2, 5000}, 1}, {{1, 40000}, 1},  {{33000}, 0},
    {{70, 40}, 0},  {{3000, 33}, 0}, {{9, 40}, 0},   {{3, 50, 40}, 1}, {{1, 20000, 3}, 1},
    {{4, 1, 5}, 1}, {{0, 5}, 1},     {{5, 0}, 1},    {{2, 3, 0, 4}, 0}};
constexpr std::array kTypes = {DType::boolean, DType::f16, DType::bf16, DType::f32, DType::f64,
                               DType::i8,      DType::i32, DType::i64,  DType::u8,  DType::u64};

// With many ties, NaN and zeros of both signs.
Id with_ties(Graph& graph, Id x) {
  if (graph[x].dtype == DType::boolean) return x;
  const Id two = graph.number(2, graph[x].dtype);
  return graph.add_node(Op::remainder, {x, two}).value();
}

TEST(LowerAlongTest, PlacesOfAllShapes) {
  program::RandomValues random(test_seed());
  for (const auto& [shape, axis] : kCases) {
    if (shape[static_cast<size_t>(axis)] == 0) continue;  // no place
    for (const int processors : {1, 132}) {
      const DType dtype = kTypes[random.below(kTypes.size())];
      SCOPED_TRACE(program::text_of(shape) + " over " + std::to_string(axis) + " of " +
                   std::string(array::properties(dtype).framework));
      Graph graph;
      const Id x = graph.input(dtype, shape).value();
      std::vector<Id> outputs;
      for (const Id from : {x, with_ties(graph, x)}) {
        outputs.push_back(graph.reduce(Op::argmax, from, {axis}, false).value());
        outputs.push_back(graph.reduce(Op::argmin, from, {axis}, true).value());
      }
      // With a reader in the same kernel.
      const Id least = graph.cast(outputs[1], DType::f32).value();
      const Id real = graph.cast(x, DType::f32).value();
      outputs.push_back(graph.add_node(Op::add, {real, least}).value());
      graph.set_outputs(outputs);
      LowerOptions options;
      options.multiprocessors = processors;
      options.uses_vectors = random.below(4) != 0;
      ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, options, random.below(4) != 0));
    }
  }
}

// The first one of several, and NaN before all numbers.
TEST(LowerAlongTest, PlacesOfTiesAndNaN) {
  const float nan = NAN;
  for (const size_t columns : {8u, 100u, 3000u, 40000u}) {
    Graph graph;
    const Id x = graph.input(DType::f32, {4, static_cast<int64_t>(columns)}).value();
    graph.set_outputs({graph.reduce(Op::argmax, x, {1}, false).value(),
                       graph.reduce(Op::argmin, x, {1}, false).value()});
    const Graph prepared = program::prepare(graph);
    const Result<Lowered> lowered = lower(prepared, program::fuse(prepared, true, false), {});
    ASSERT_TRUE(lowered) << lowered.error().message;
    Values input(program::Lanes::f32, 4 * columns);
    auto& values = input.f32();
    for (size_t i = 0; i < columns; ++i) {
      values[i] = -0.0f;  // a tie of all: +0 is no more than it
      values[columns + i] = i >= 3 ? nan : 1.0f;
      values[2 * columns + i] = -INFINITY;
      values[3 * columns + i] = i == columns - 1 ? 2.0f : i == columns - 2 ? -2.0f : 0.0f;
    }
    values[columns / 2] = 0.0f;
    const std::vector<Values> found = run(prepared, *lowered, {input}, interpret_kernel);
    const auto last = static_cast<int64_t>(columns - 1);
    EXPECT_EQ((std::vector<int64_t>(found[0].i64().begin(), found[0].i64().end())),
              (std::vector<int64_t>{0, 3, 0, last}));
    EXPECT_EQ((std::vector<int64_t>(found[1].i64().begin(), found[1].i64().end())),
              (std::vector<int64_t>{0, 3, 0, last - 1}));
  }
}

TEST(LowerAlongTest, CumulativeSumsOfAllShapes) {
  program::RandomValues random(test_seed());
  for (const auto& [shape, axis] : kCases) {
    const DType dtype = kTypes[1 + random.below(kTypes.size() - 1)];
    SCOPED_TRACE(program::text_of(shape) + " over " + std::to_string(axis) + " of " +
                 std::string(array::properties(dtype).framework));
    Graph graph;
    const Id x = graph.input(dtype, shape).value();
    const Id twice = graph.add_node(Op::add, {x, x}).value();
    const Id sums = graph.cumulative_sum(twice, axis).value();
    const Id most = shape[static_cast<size_t>(axis)] == 0
                        ? x
                        : graph.reduce(Op::reduce_maximum, sums, {axis}, true).value();
    const Id wide = graph.cast(sums, DType::f64).value();
    const Id base = graph.cast(most, DType::f64).value();
    // Sums of sums, and what reads both them and a reduction of them.
    graph.set_outputs({graph.cumulative_sum(sums, axis).value(),
                       graph.add_node(Op::subtract, {wide, base}).value()});
    LowerOptions options;
    options.multiprocessors = random.below(2) == 0 ? 1 : 132;
    options.uses_vectors = random.below(4) != 0;
    ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, options, random.below(4) != 0));
  }
}

// Rows of several warps or threads: lengths around those of their parts, vectors and remainders.
TEST(LowerAlongTest, CumulativeSumsOfFewLongRows) {
  program::RandomValues random(test_seed());
  std::vector<std::pair<Extents, int64_t>> cases = {{{2049, 256}, 0}};
  for (const int64_t columns : {4096, 4097, 4100, 4608, 8191, 8192, 8193, 8320, 12289}) {
    cases.push_back({{1, columns}, 1});
    cases.push_back({{3, columns}, 1});
    cases.push_back({{columns, 2}, 0});
  }
  for (const int64_t columns : {4096, 4097, 4159}) cases.push_back({{columns, 33}, 0});
  for (const auto& [shape, axis] : cases) {
    const DType dtype = kTypes[1 + random.below(kTypes.size() - 1)];
    SCOPED_TRACE(program::text_of(shape) + " over " + std::to_string(axis) + " of " +
                 std::string(array::properties(dtype).framework));
    Graph graph;
    const Id x = graph.input(dtype, shape).value();
    const Id twice = graph.add_node(Op::add, {x, x}).value();
    graph.set_outputs({graph.cumulative_sum(twice, axis).value()});
    LowerOptions options;
    options.multiprocessors = random.below(2) == 0 ? 1 : 132;
    options.uses_vectors = random.below(4) != 0;
    const Graph prepared = program::prepare(graph);
    const Result<Lowered> lowered = lower(prepared, program::fuse(prepared, true, false), options);
    ASSERT_TRUE(lowered) << lowered.error().message;
    EXPECT_EQ(lowered->steps.size(), 3u);  // parts, what comes before them, sums
    ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, options, random.below(4) != 0));
  }
}

// What stands before, between and behind running sums in one group.
TEST(LowerAlongTest, CumulativeSumsOfFewLongRowsAmongReductions) {
  program::RandomValues random(test_seed());
  for (const auto& [shape, axis] : std::vector<std::pair<Extents, int64_t>>{
           {{2, 5000}, 1}, {{1, 20000}, 1}, {{2500, 40}, 0}, {{2, 4100, 3}, 1}}) {
    for (const int processors : {1, 132}) {
      const DType dtype = kTypes[1 + random.below(kTypes.size() - 1)];
      SCOPED_TRACE(program::text_of(shape) + " over " + std::to_string(axis) + " of " +
                   std::string(array::properties(dtype).framework));
      Graph graph;
      const Id x = graph.input(dtype, shape).value();
      const Id least = graph.reduce(Op::reduce_minimum, x, {axis}, true).value();
      const Id above = graph.add_node(Op::subtract, {x, least}).value();
      const Id sums = graph.cumulative_sum(above, axis).value();
      const Id twice = graph.cumulative_sum(sums, axis).value();
      const Id most = graph.reduce(Op::reduce_maximum, twice, {axis}, true).value();
      const Id base = graph.cast(most, DType::f32).value();
      const Id real = graph.cast(sums, DType::f32).value();
      graph.set_outputs({sums, twice, graph.reduce(Op::argmax, sums, {axis}, false).value(),
                         graph.reduce(Op::sum, x, {axis}, false).value(),
                         graph.add_node(Op::subtract, {real, base}).value(),
                         graph.add_node(Op::negate, {base}).value()});
      LowerOptions options;
      options.multiprocessors = processors;
      options.uses_vectors = random.below(4) != 0;
      ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, options, random.below(4) != 0));
    }
  }
}

// Sums start with the first number itself, so that -0 stays; NaN is in none before it.
TEST(LowerAlongTest, CumulativeSumsOfNegativeZerosAndNaN) {
  for (const size_t columns : {3u, 16u, 100u, 1001u, 5000u, 40000u}) {
    Graph graph;
    const Id x = graph.input(DType::f32, {3, static_cast<int64_t>(columns)}).value();
    graph.set_outputs({graph.cumulative_sum(x, 1).value()});
    const Graph prepared = program::prepare(graph);
    const Result<Lowered> lowered = lower(prepared, program::fuse(prepared, true, false), {});
    ASSERT_TRUE(lowered) << lowered.error().message;
    Values input(program::Lanes::f32, 3 * columns);
    Values expected(program::Lanes::f32, 3 * columns);
    for (size_t i = 0; i < columns; ++i) {
      input.f32()[i] = expected.f32()[i] = -0.0f;
      input.f32()[columns + i] = i == columns / 2 ? NAN : 1.0f;
      expected.f32()[columns + i] = i >= columns / 2 ? NAN : static_cast<float>(i + 1);
      input.f32()[2 * columns + i] = i % 2 == 0 ? 1.0f : -1.0f;
      expected.f32()[2 * columns + i] = i % 2 == 0 ? 1.0f : 0.0f;
    }
    EXPECT_TRUE(
        program::same_values(run(prepared, *lowered, {input}, interpret_kernel)[0], expected))
        << columns;
  }
}

// Indices of random types, all inside; tables that are views, broadcast, or made before.
TEST(LowerAlongTest, TakesOfAllShapes) {
  program::RandomValues random(test_seed());
  for (const auto& [shape, axis] : kCases) {
    const int64_t extent = shape[static_cast<size_t>(axis)];
    if (extent == 0) continue;
    for (const bool is_broadcast : {false, true}) {
      const DType dtype = kTypes[random.below(kTypes.size())];
      SCOPED_TRACE(program::text_of(shape) + " along " + std::to_string(axis) + " of " +
                   std::string(array::properties(dtype).framework));
      Graph graph;
      Id table = graph.input(dtype, shape).value();
      Extents places = shape;
      places[static_cast<size_t>(axis)] = 1 + static_cast<int64_t>(random.below(40));
      if (is_broadcast) {
        for (size_t i = 0; i < places.size(); ++i) {
          if (i != static_cast<size_t>(axis)) places[i] = 1;
        }
      }
      const size_t kind = random.below(4);
      if (kind == 1) {  // backwards
        Extents begins(shape.size(), 0);
        Extents steps(shape.size(), 1);
        begins[static_cast<size_t>(axis)] = extent - 1;
        steps[static_cast<size_t>(axis)] = -1;
        table = graph.slice(table, begins, shape, steps).value();
      } else if (kind == 2 && dtype != DType::boolean) {
        table = graph.add_node(Op::add, {table, graph.number(1, dtype)}).value();
      } else if (kind == 3) {
        table = graph.broadcast(graph.number(1, dtype), shape).value();
      }
      const Id given = graph.input(DType::i64, places).value();
      const Id twice = graph.integer(2 * extent, DType::i64);
      const Id inside =
          graph
              .add_node(Op::subtract, {graph.add_node(Op::remainder, {given, twice}).value(),
                                       graph.integer(extent, DType::i64)})
              .value();
      Id taken = graph.take_along(table, inside, axis).value();
      if (random.below(2) == 0) taken = graph.cast(taken, DType::f32).value();
      graph.set_outputs({taken});
      LowerOptions options;
      options.uses_vectors = random.below(4) != 0;
      ASSERT_NO_FATAL_FAILURE(check_interpreted(graph, random, options, random.below(4) != 0));
    }
  }
}

// A row for a thread, a warp, several warps and several blocks.
TEST(LowerAlongTest, CompiledKernelsGiveWhatTheInterpreterGives) {
  program::RandomValues random(test_seed());
  Graph graph;
  std::vector<Id> outputs;
  const std::vector<std::pair<DType, Extents>> cases = {
      {DType::i16, {300, 7}}, {DType::f32, {9, 300}}, {DType::f32, {1, 40000}},
      {DType::f16, {5, 6}},   {DType::bf16, {6, 5}},  {DType::boolean, {1, 3}}};
  for (const auto& [dtype, shape] : cases) {
    const Id x = graph.input(dtype, shape).value();
    const Id most = graph.reduce(Op::argmax, x, {1}, true).value();
    outputs.push_back(graph.take_along(x, most, 1).value());
    if (dtype != DType::boolean) outputs.push_back(graph.cumulative_sum(x, 1).value());
  }
  graph.set_outputs(outputs);
  ASSERT_NO_FATAL_FAILURE(check_compiled(graph, random, {}));
}

// The interpreter of the IR finds whoever reads outside.
TEST(LowerAlongTest, IndicesOutsideGiveNothing) {
  constexpr int64_t kLeast = INT64_MIN;
  for (const DType dtype : kTypes) {
    for (const int64_t extent : {0, 3}) {
      Graph graph;
      const Id table = graph.input(dtype, {extent, 2}).value();
      const Id places = graph.input(DType::i64, {7, 1}).value();
      graph.set_outputs({graph.take_along(table, places, 0).value()});
      const Graph prepared = program::prepare(graph);
      const Result<Lowered> lowered = lower(prepared, program::fuse(prepared, true, false), {});
      ASSERT_TRUE(lowered) << lowered.error().message;
      Values ones(program::lanes_of(dtype), static_cast<size_t>(2 * extent));
      for (size_t i = 0; i < ones.size(); ++i) {
        if (ones.has(program::Lanes::f32)) {
          ones.f32()[i] = 1;
        } else if (ones.has(program::Lanes::f64)) {
          ones.f64()[i] = 1;
        } else {
          ones.i64()[i] = 1;
        }
      }
      const Values indices(Values::I64{-3, 2, -4, 3, kLeast, INT64_MAX, 0});
      const Values found = run(prepared, *lowered, {ones, indices}, interpret_kernel)[0];
      const std::array is_inside = {true, true, false, false, false, false, true};
      for (size_t i = 0; i < found.size(); ++i) {
        const double value = real_at(found, i);
        if (extent != 0 && is_inside[i / 2]) {
          EXPECT_EQ(value, 1) << i;
        } else if (program::is_float(dtype)) {
          EXPECT_TRUE(std::isnan(value)) << i;
        } else {
          EXPECT_EQ(value, 0) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hoist::graph::kernels
