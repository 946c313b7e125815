// Rules of integers and casts: used where they should be, for each type, and right there. And what
// is right for some types alone.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "graph/program/canonicalise.h"
#include "graph/program/rules.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                               DType::u8, DType::u16, DType::u32, DType::u64};
constexpr DType kAll[] = {DType::boolean, DType::f16, DType::bf16, DType::f32, DType::f64,
                          DType::i8,      DType::i16, DType::i32,  DType::i64, DType::u8,
                          DType::u16,     DType::u32, DType::u64};

using Make = std::function<Id(Graph&, Id)>;

// How many nodes are left; the results must be the same.
size_t left(DType dtype, const Make& make, size_t* rewrites = nullptr) {
  RandomValues random(test_seed());
  Graph graph;
  const Id x = *graph.input(dtype, {100});
  graph.set_outputs({make(graph, x)});
  const Canonical canonical = canonicalise(graph);
  const std::vector<Values> given = {random.values(graph[x], true)};
  const Values before = interpret(graph, given).value()[0];
  EXPECT_TRUE(same_values(interpret(canonical.graph, given).value()[0], before)) << text_of(graph);
  const auto program = Program::compile(graph).value();
  EXPECT_TRUE(same_values(run_values(*program, given)[0], before)) << text_of(graph);
  if (rewrites != nullptr) *rewrites = canonical.rewrites;
  return canonical.graph.primitives();
}

Id op(Graph& graph, Op op, std::vector<Id> inputs) {
  return graph.add_node(op, std::move(inputs)).value();
}

TEST(TypesTest, SizesAreThoseOfTheTable) {
  for (const array::DTypeProperties& type : array::all_dtypes()) {
    const bool is_taken = std::find(std::begin(kAll), std::end(kAll), type.dtype) != std::end(kAll);
    EXPECT_EQ(is_program_type(type.dtype), is_taken) << type.name;
    if (is_taken) {
      EXPECT_EQ(bytes_of(type.dtype), type.bytes) << type.name;
    }
  }
}

TEST(TypedRulesTest, EachRuleOfIntegers) {
  const auto number = [](Graph& graph, Id x, int64_t value) {
    return graph.integer(value, graph[x].dtype);
  };
  const std::vector<std::pair<std::string_view, Make>> cases = {
      {"n + 0 = n - 0 = n",
       [&](Graph& g, Id x) {
         return op(g, Op::subtract, {op(g, Op::add, {number(g, x, 0), x}), number(g, x, 0)});
       }},
      {"n * 1 = n",
       [&](Graph& g, Id x) {
         return op(g, Op::multiply, {x, number(g, x, 1)});
       }},
      {"n * 0 = 0",
       [&](Graph& g, Id x) {
         return op(g, Op::multiply, {x, number(g, x, 0)});
       }},
      {"n - n = 0",
       [&](Graph& g, Id x) {
         return op(g, Op::subtract, {x, x});
       }},
  };
  std::set<std::string_view> seen = {"(n + c) + d = n + (c + d)"};  // below
  for (const auto& [name, make] : cases) {
    SCOPED_TRACE(name);
    seen.insert(name);
    for (const DType dtype : kIntegers) EXPECT_EQ(left(dtype, make), 0u) << static_cast<int>(dtype);
  }
  for (const Rule& rule : integer_rules()) EXPECT_TRUE(seen.contains(rule.name)) << rule.name;
}

TEST(TypedRulesTest, NumbersMeetInWideIntegersAlone) {
  const Make make = [](Graph& g, Id x) {
    const Id inner = op(g, Op::add, {x, g.integer(INT64_MAX, g[x].dtype)});
    return op(g, Op::add, {inner, g.integer(77, g[x].dtype)});
  };
  EXPECT_EQ(left(DType::i64, make), 1u);
  EXPECT_EQ(left(DType::u64, make), 1u);
  left(DType::i8, make);
  const Make floats = [](Graph& g, Id x) {
    const Id inner = op(g, Op::add, {x, g.number(0.1, g[x].dtype)});
    return op(g, Op::add, {inner, g.number(0.7, g[x].dtype)});
  };
  EXPECT_EQ(left(DType::f64, floats), 2u);
}

TEST(TypedRulesTest, CastsThatComeBackAreNone) {
  std::set<std::string_view> names;
  for (const Rule& rule : cast_rules()) names.insert(rule.name);
  EXPECT_EQ(names.size(), 2u);
  size_t kept = 0;
  for (const DType from : kAll) {
    for (const DType over : kAll) {
      kept += left(from, [&](Graph& g, Id x) {
                return g.cast(g.cast(x, over).value(), from).value();
              }) == 0;
    }
  }
  EXPECT_GT(kept, 60u);
  EXPECT_LT(kept, 130u);
  const auto round_trip = [](DType from, DType over) {
    return left(from,
                [&](Graph& g, Id x) { return g.cast(g.cast(x, over).value(), from).value(); });
  };
  EXPECT_EQ(round_trip(DType::f16, DType::f32), 0u);
  EXPECT_EQ(round_trip(DType::i32, DType::f64), 0u);
  EXPECT_EQ(round_trip(DType::i32, DType::f32), 2u);
  EXPECT_EQ(round_trip(DType::i64, DType::f64), 2u);
  EXPECT_EQ(round_trip(DType::f32, DType::f16), 2u);
  EXPECT_EQ(round_trip(DType::i8, DType::u8), 0u);
}

TEST(TypedRulesTest, SignsAreLookedAt) {
  const Make make = [](Graph& g, Id x) { return op(g, Op::absolute, {op(g, Op::negate, {x})}); };
  EXPECT_EQ(left(DType::i64, make), 1u);
  EXPECT_EQ(left(DType::f64, make), 1u);
  EXPECT_EQ(left(DType::u64, make), 2u);
}

TEST(TypedRulesTest, ExactRulesOfFloatsHoldForEachFloat) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const double number : {1.0, -1.0, 2.0, 0x1p-12, 0x1p20, 0.0, -0.0, 3.0}) {
      for (const Op by : {Op::add, Op::subtract, Op::multiply, Op::divide, Op::power}) {
        left(dtype, [&](Graph& g, Id x) { return op(g, by, {x, g.number(number, dtype)}); });
        left(dtype, [&](Graph& g, Id x) { return op(g, by, {g.number(number, dtype), x}); });
      }
    }
    left(dtype, [&](Graph& g, Id x) {
      return op(g, Op::divide, {g.number(1, dtype), op(g, Op::sqrt, {x})});
    });
  }
  const auto quotient = [](DType dtype, double by) {
    return left(dtype, [&](Graph& g, Id x) { return op(g, Op::divide, {x, g.number(by, dtype)}); });
  };
  EXPECT_EQ(quotient(DType::f64, 1), 0u);
  EXPECT_EQ(quotient(DType::f64, 0x1p-1020), 1u);
}

}  // namespace
}  // namespace hoist::graph::program
