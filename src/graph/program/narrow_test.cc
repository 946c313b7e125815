// Steps and loops on elements as they lie in memory, against those of wider lanes.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/program/fuse.h"
#include "graph/program/lower.h"
#include "graph/program/narrow_steps.h"
#include "graph/program/prepare.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32,
                               DType::u8, DType::u16, DType::u32};
constexpr Op kPairs[] = {Op::add,        Op::subtract,    Op::multiply,     Op::minimum,
                         Op::maximum,    Op::bitwise_or,  Op::bitwise_and,  Op::bitwise_xor,
                         Op::left_shift, Op::right_shift, Op::floor_divide, Op::remainder};
constexpr Op kComparisons[] = {Op::equal,      Op::not_equal, Op::less,
                               Op::less_equal, Op::greater,   Op::greater_equal};

class NarrowStepsTest : public ::testing::TestWithParam<const NarrowSteps*> {
 protected:
  Step step(Op op, DType dtype, unsigned scalars) const {
    return GetParam()->table[static_cast<size_t>(dtype)][static_cast<size_t>(op)][scalars];
  }

  // All pairs of bytes; of wider types those of numbers near powers of two, and random ones.
  std::pair<Values, Values> pairs(DType dtype) {
    Values::I64 numbers;
    if (bytes_of(dtype) == 1) {
      for (int64_t i = -128; i < 256; ++i) numbers.push_back(i);
    } else {
      for (int bit = 0; bit < 33; ++bit) {
        for (const int64_t near : {-1, 0, 1}) {
          numbers.push_back((int64_t{1} << bit) + near);
          numbers.push_back(-(int64_t{1} << bit) + near);
        }
      }
      for (int i = 0; i < 200; ++i) numbers.push_back(static_cast<int64_t>(random_()));
    }
    Values wrapped(Values::I64(numbers.size()));
    step_for(Op::cast, Lanes::i64, dtype, 0)(numbers.data(), nullptr, nullptr, wrapped.bytes(),
                                             numbers.size());
    Values a(Values::I64{});
    Values b(Values::I64{});
    for (const int64_t x : wrapped.i64()) {
      for (const int64_t y : wrapped.i64()) {
        a.i64().push_back(x);
        b.i64().push_back(y);
      }
    }
    return {a, b};
  }

  static std::vector<std::byte> as_memory(DType dtype, const Values& values) {
    std::vector<std::byte> memory(values.size() * bytes_of(dtype));
    narrow(dtype, values.bytes(), values.size(), memory.data());
    return memory;
  }

  RandomValues random_{test_seed()};
};

TEST_P(NarrowStepsTest, PairsGiveTheLowBitsOfLanes) {
  for (const DType dtype : kIntegers) {
    const auto [a, b] = pairs(dtype);
    const size_t n = a.size();
    const std::vector<std::byte> in_a = as_memory(dtype, a);
    const std::vector<std::byte> in_b = as_memory(dtype, b);
    for (const Op op : kPairs) {
      Values wide(Lanes::i64, n);
      step_for(op, Lanes::i64, DType::i64, 0)(a.bytes(), b.bytes(), nullptr, wide.bytes(), n);
      std::vector<std::byte> found(in_a.size());
      step(op, dtype, 0)(in_a.data(), in_b.data(), nullptr, found.data(), n);
      ASSERT_EQ(found, as_memory(dtype, wide)) << properties(op).name;
    }
    for (const Op op : kComparisons) {
      Values wide(Lanes::f32, n);
      step_for(op, Lanes::i64, DType::boolean, 0)(a.bytes(), b.bytes(), nullptr, wide.bytes(), n);
      std::vector<std::byte> found(n);
      step(op, dtype, 0)(in_a.data(), in_b.data(), nullptr, found.data(), n);
      ASSERT_EQ(found, as_memory(DType::boolean, wide)) << properties(op).name;
    }
    for (const Op op : {Op::negate, Op::absolute, Op::bitwise_invert}) {
      Values wide(Lanes::i64, n);
      step_for(op, Lanes::i64, DType::i64, 0)(a.bytes(), nullptr, nullptr, wide.bytes(), n);
      std::vector<std::byte> found(in_a.size());
      step(op, dtype, 0)(in_a.data(), nullptr, nullptr, found.data(), n);
      ASSERT_EQ(found, as_memory(dtype, wide)) << properties(op).name;
    }
  }
}

TEST_P(NarrowStepsTest, CastsAreThoseOfLanes) {
  constexpr DType kTypes[] = {DType::boolean, DType::i8,  DType::i16, DType::i32,
                              DType::i64,     DType::u8,  DType::u16, DType::u32,
                              DType::u64,     DType::f32, DType::f64};
  Node node;
  node.shape = {5000};
  for (const DType from : kTypes) {
    node.dtype = from;
    const Values a = random_.values(node, true);
    const std::vector<std::byte> in = as_memory(from, a);
    for (const DType to : kTypes) {
      Values lanes(lanes_of(to), a.size());
      step_for(Op::cast, lanes_of(from), to, 0)(a.bytes(), nullptr, nullptr, lanes.bytes(),
                                                a.size());
      std::vector<std::byte> memory(a.size() * bytes_of(to));
      GetParam()->casts[static_cast<size_t>(from)][static_cast<size_t>(to)][0](
          in.data(), nullptr, nullptr, memory.data(), a.size());
      Values found(lanes_of(to), a.size());
      widen(to, memory.data(), a.size(), found.bytes());
      ASSERT_TRUE(same_values(found, lanes))
          << array::properties(from).framework << " as " << array::properties(to).framework;
    }
  }
}

// Any byte but 0 is true.
TEST_P(NarrowStepsTest, LogicOfAllBytes) {
  std::vector<uint8_t> a;
  std::vector<uint8_t> b;
  for (int i = 0; i < 65536; ++i) {
    a.push_back(static_cast<uint8_t>(i));
    b.push_back(static_cast<uint8_t>(i >> 8));
  }
  const auto check = [&](Op op, const auto& expected) {
    std::vector<uint8_t> found(a.size());
    step(op, DType::boolean, 0)(a.data(), b.data(), nullptr, found.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(found[i], expected(a[i] != 0, b[i] != 0) ? 1 : 0) << properties(op).name;
    }
  };
  check(Op::bitwise_and, [](bool x, bool y) { return x && y; });
  check(Op::bitwise_or, [](bool x, bool y) { return x || y; });
  check(Op::bitwise_xor, [](bool x, bool y) { return x != y; });
  check(Op::bitwise_invert, [](bool x, bool) { return !x; });
}

INSTANTIATE_TEST_SUITE_P(All, NarrowStepsTest, ::testing::ValuesIn(runnable_narrow_steps()),
                         [](const auto& info) { return std::string(info.param->name); });

bool is_narrow(const Graph& graph) {
  const Graph prepared = prepare(graph);
  const std::vector<Kernel> kernels = lower(prepared, fuse(prepared, true, false));
  return std::all_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) {
    const std::vector<LoopStep>& steps = kernel.loops[0].phases[0].steps;
    return std::all_of(steps.begin(), steps.end(),
                       [](const LoopStep& step) { return step.kind == LoopStep::Kind::narrow; });
  });
}

TEST(NarrowLoopTest, RandomGraphsOfIntegers) {
  RandomValues random(test_seed());
  const std::vector<Extents> shapes = {{},     {1},       {7},       {8192}, {8193},    {20000},
                                       {3, 5}, {40, 300}, {2, 9000}, {0, 4}, {3, 4, 50}};
  for (int i = 0; i < 300; ++i) {
    const DType dtype = kIntegers[random.below(std::size(kIntegers))];
    const Extents& shape = shapes[random.below(shapes.size())];
    Graph graph;
    std::vector<Id> numbers = {graph.input(dtype, shape).value(), graph.input(dtype, shape).value(),
                               graph.integer(static_cast<int64_t>(random.below(200)), dtype)};
    std::vector<Id> booleans = {graph.input(DType::boolean, shape).value()};
    if (shape.size() == 2) {  // a row, and a number for each
      numbers.push_back(graph.input(dtype, {1, shape[1]}).value());
      numbers.push_back(graph.input(dtype, {shape[0], 1}).value());
    }
    const auto one_of = [&](const std::vector<Id>& all) {
      return graph.broadcast(all[random.below(all.size())], shape).value();
    };
    for (int k = 0; k < 6; ++k) {
      const size_t kind = random.below(9);
      if (kind == 8) {
        const DType other = kIntegers[random.below(std::size(kIntegers))];
        const Id wide = graph.cast(one_of(numbers), other).value();
        const Id sum = graph.add_node(Op::add, {wide, wide}).value();
        numbers.push_back(graph.cast(sum, dtype).value());
        booleans.push_back(graph.cast(sum, DType::boolean).value());
      } else if (kind == 0) {
        const Op op = kComparisons[random.below(std::size(kComparisons))];
        booleans.push_back(graph.add_node(op, {one_of(numbers), one_of(numbers)}).value());
      } else if (kind == 1) {
        const Op op = random.below(2) == 0 ? Op::bitwise_or : Op::bitwise_xor;
        booleans.push_back(graph.add_node(op, {one_of(booleans), one_of(booleans)}).value());
      } else if (kind == 2) {
        booleans.push_back(graph.add_node(Op::bitwise_invert, {one_of(booleans)}).value());
      } else if (kind == 3) {
        numbers.push_back(
            graph.add_node(Op::where, {one_of(booleans), one_of(numbers), one_of(numbers)})
                .value());
      } else if (kind == 4) {
        const Op op = random.below(2) == 0 ? Op::negate : Op::absolute;
        numbers.push_back(graph.add_node(op, {one_of(numbers)}).value());
      } else {
        const Op op = kPairs[random.below(std::size(kPairs))];
        numbers.push_back(graph.add_node(op, {one_of(numbers), one_of(numbers)}).value());
      }
    }
    graph.set_outputs({numbers.back(), booleans.back(), one_of(numbers)});
    ASSERT_NO_FATAL_FAILURE(check_all_ways(graph, random, true)) << text_of(shape);
  }
}

TEST(NarrowLoopTest, IntegersAndComparisonsAreNarrow) {
  Graph graph;
  const Id x = graph.input(DType::u8, {300, 50}).value();
  const Id y = graph.input(DType::u8, {50}).value();
  const Id row = graph.broadcast(y, {300, 50}).value();
  const Id sum = graph.add_node(Op::add, {x, row}).value();
  const Id is_less = graph.add_node(Op::less, {sum, x}).value();
  const Id most = graph.broadcast(graph.integer(255, DType::u8), {300, 50}).value();
  graph.set_outputs({graph.add_node(Op::where, {is_less, most, sum}).value(), is_less});
  EXPECT_TRUE(is_narrow(graph));
  RandomValues random(test_seed());
  ASSERT_NO_FATAL_FAILURE(check_all_ways(graph, random, true));

  Graph of_floats;
  const Id a = of_floats.input(DType::f64, {1000}).value();
  const Id b = of_floats.input(DType::f64, {1000}).value();
  of_floats.set_outputs({of_floats.add_node(Op::greater_equal, {a, b}).value()});
  EXPECT_TRUE(is_narrow(of_floats));
  ASSERT_NO_FATAL_FAILURE(check_all_ways(of_floats, random, true));  // NaN and zeros, too
}

// Bits beyond the type's count there.
TEST(NarrowLoopTest, WiderResultsAreNotNarrow) {
  Graph graph;
  const Id x = graph.input(DType::i8, {100}).value();
  const Id wide = graph.cast(x, DType::i64).value();
  const Id twice = graph.add_node(Op::add, {wide, wide}).value();
  const Id most = graph.add_node(Op::maximum, {twice, wide}).value();
  graph.set_outputs({twice, graph.cast(most, DType::i8).value(),
                     graph.add_node(Op::less, {twice, wide}).value()});
  EXPECT_FALSE(is_narrow(graph));
  RandomValues random(test_seed());
  ASSERT_NO_FATAL_FAILURE(check_all_ways(graph, random, true));
}

// A result may lie where an input does.
TEST(NarrowLoopTest, ResultsInPlace) {
  Graph graph;
  const Id x = graph.input(DType::i16, {10000}).value();
  const Id y = graph.input(DType::i16, {10000}).value();
  const Id product = graph.add_node(Op::multiply, {x, y}).value();
  graph.set_outputs({graph.add_node(Op::subtract, {product, x}).value()});
  RandomValues random(test_seed());
  const std::vector<Values> inputs = {random.values(graph[x], true), random.values(graph[y], true)};
  const auto program = Program::compile(graph, {}).value();
  const Values expected = interpret(graph, inputs).value()[0];
  for (const size_t input : {0u, 1u}) {
    EXPECT_TRUE(same_values(run_values(*program, inputs, {{0, input}})[0], expected));
  }
}

}  // namespace
}  // namespace hoist::graph::program
