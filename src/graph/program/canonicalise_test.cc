// Each rule: it is used where it should be, and the results keep their bits for NaN, infinities,
// zeros of both signs and subnormals.
#include "graph/program/canonicalise.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "graph/program/rules.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

struct Case {
  std::string_view rule;
  // x, y: special values against each other; c: a condition.
  std::function<Id(Graph&, Id x, Id y, Id c)> make;
  size_t nodes;  // that are left
};

Id op(Graph& graph, Op op, std::vector<Id> inputs) {
  return graph.add_node(op, std::move(inputs)).value();
}
Id negated(Graph& graph, Id x) { return op(graph, Op::negate, {x}); }

const Extents kShape = {26, 26};

const std::vector<Case>& exact_cases() {
  using G = Graph&;
  static const std::vector<Case> cases = {
      {"x * 1 = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::multiply, {g.number(1), x});
       },
       0},
      {"x * -1 = -x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::multiply, {x, g.number(-1)});
       },
       1},
      {"x / 1 = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::divide, {x, g.number(1)});
       },
       0},
      {"x / -1 = -x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::divide, {x, g.number(-1)});
       },
       1},
      {"x / 2^k = x * 2^-k",
       [](G g, Id x, Id, Id) {
         return op(g, Op::divide, {x, g.number(0x1p40f)});
       },
       1},
      {"x + -0 = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::add, {x, g.number(-0.0f)});
       },
       0},
      {"x - 0 = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::subtract, {x, g.number(0)});
       },
       0},
      {"-(-x) = x", [](G g, Id x, Id, Id) { return negated(g, negated(g, x)); }, 0},
      {"x + (-y) = x - y",
       [](G g, Id x, Id y, Id) {
         return op(g, Op::add, {x, negated(g, y)});
       },
       1},
      {"x - (-y) = x + y",
       [](G g, Id x, Id y, Id) {
         return op(g, Op::subtract, {x, negated(g, y)});
       },
       1},
      {"(-x) * (-y) = x * y",
       [](G g, Id x, Id y, Id) {
         return op(g, Op::divide, {negated(g, x), negated(g, y)});
       },
       1},
      {"|-x| = ||x|| = |x|",
       [](G g, Id x, Id, Id) {
         return op(g, Op::absolute, {op(g, Op::absolute, {negated(g, x)})});
       },
       1},
      {"relu(relu(x)) = relu(x)",
       [](G g, Id x, Id, Id) { return op(g, Op::relu, {op(g, Op::relu, {x})}); }, 1},
      {"min(x, x) = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::minimum, {x, x});
       },
       0},
      {"1 / sqrt(x) = rsqrt(x)",
       [](G g, Id x, Id, Id) {
         return op(g, Op::divide, {g.number(1), op(g, Op::sqrt, {x})});
       },
       1},
      {"x ^ 1 = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::power, {x, g.number(1)});
       },
       0},
      {"where(c, x, x) = x",
       [](G g, Id x, Id, Id c) {
         return op(g, Op::where, {c, x, x});
       },
       0},
      {"where(true, x, y) = x",
       [](G g, Id x, Id y, Id) {
         const Id truth = op(g, Op::less, {g.number(1), g.number(2)});
         return op(g, Op::where, {truth, x, y});
       },
       0},
      {"cast to a wider type and back",
       [](G g, Id x, Id y, Id c) {
         return op(g, Op::where, {op(g, Op::to_bool, {g.cast(c, DType::f32).value()}), x, y});
       },
       1},
      {"copy(x) = x", [](G g, Id x, Id, Id) { return op(g, Op::exp, {op(g, Op::copy, {x})}); }, 1},
      {"reshape, broadcast to the same shape",
       [](G g, Id x, Id, Id) { return op(g, Op::exp, {*g.reshape(x, kShape)}); }, 1},
      {"reshape, broadcast twice",
       [](G g, Id x, Id, Id) {
         const Id wide = *g.broadcast(*g.broadcast(x, {2, 26, 26}), {3, 2, 26, 26});
         return *g.reshape(*g.reshape(wide, {-1}), {6, 26, 26});
       },
       0},
      {"permute twice",
       [](G g, Id x, Id y, Id) {
         return op(g, Op::add, {*g.permute(*g.permute(x, {1, 0}), {1, 0}), y});
       },
       1},
      {"permute that changes nothing",
       [](G g, Id x, Id, Id) {
         return *g.permute(*g.reshape(x, {1, 26, 26}), {1, 0, 2});
       },
       0},
      {"slice of everything",
       [](G g, Id x, Id, Id) {
         return *g.slice(x, {0, 0}, {26, 26}, {1, 1});
       },
       0},
      {"slice of a slice",
       [](G g, Id x, Id, Id) {
         const Id half = *g.slice(x, {25, 3}, {13, 20}, {-2, 1});
         return *g.slice(half, {2, 19}, {5, 7}, {2, -3});
       },
       0},
      {"concatenation of one", [](G g, Id x, Id, Id) { return *g.concatenate({x}, 0); }, 0},
  };
  return cases;
}

// x and y: all pairs of special values.
std::vector<Values> inputs() {
  const std::vector<float> special = special_floats();
  EXPECT_EQ(special.size(), 26u);
  Values x;
  Values y;
  Values c;
  for (const float a : special) {
    for (const float b : special) {
      x.push_back(a);
      y.push_back(b);
      c.push_back(x.size() % 3 == 0 ? 1.0f : 0.0f);
    }
  }
  return {x, y, c};
}

Graph graph_of(const Case& the_case) {
  Graph graph;
  const Id x = *graph.input(DType::f32, kShape);
  const Id y = *graph.input(DType::f32, kShape);
  const Id c = *graph.input(DType::boolean, kShape);
  graph.set_outputs({the_case.make(graph, x, y, c)});
  return graph;
}

TEST(CanonicaliseTest, ExactRulesKeepEveryBit) {
  for (const Case& the_case : exact_cases()) {
    SCOPED_TRACE(the_case.rule);
    const Graph graph = graph_of(the_case);
    const Canonical canonical = canonicalise(graph);
    EXPECT_GE(canonical.rewrites, 1u);
    EXPECT_EQ(canonical.graph.primitives(), the_case.nodes) << text_of(canonical.graph);
    const auto before = interpret(graph, inputs()).value();
    const auto after = interpret(canonical.graph, inputs()).value();
    EXPECT_TRUE(same_values(after[0], before[0]));
    const auto program = Program::compile(graph).value();
    EXPECT_TRUE(same_values(run_values(*program, inputs())[0], before[0]));
  }
}

TEST(CanonicaliseTest, EachExactRuleHasACase) {
  for (const auto rules : {exact_rules(), view_rules()}) {
    for (const Rule& rule : rules) {
      const auto& cases = exact_cases();
      EXPECT_EQ(std::count_if(cases.begin(), cases.end(),
                              [&](const Case& found) { return found.rule == rule.name; }),
                1)
          << rule.name;
    }
  }
}

// What would change a result stays, unless fast_math allows it.
TEST(CanonicaliseTest, InexactRulesNeedFastMath) {
  using G = Graph&;
  const std::vector<Case> cases = {
      {"x + 0 = x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::add, {x, g.number(0)});
       },
       0},
      {"x * 0 = 0",
       [](G g, Id x, Id, Id) {
         return op(g, Op::multiply, {x, g.number(0)});
       },
       0},
      {"x - x = 0",
       [](G g, Id x, Id, Id) {
         return op(g, Op::subtract, {x, x});
       },
       0},
      {"x ^ 2 = x * x",
       [](G g, Id x, Id, Id) {
         return op(g, Op::power, {x, g.number(2)});
       },
       1},
      {"x / c = x * (1 / c)",
       [](G g, Id x, Id, Id) {
         return op(g, Op::divide, {x, g.number(3)});
       },
       1},
      {"rows / s = rows * (1 / s)",
       [](G g, Id x, Id, Id) {
         return op(g, Op::divide, {x, *g.reduce(Op::sum, x, {1}, true)});
       },
       3},
      {"exp(log(x)) = log(exp(x)) = x",
       [](G g, Id x, Id, Id) { return op(g, Op::exp, {op(g, Op::log, {x})}); }, 0},
      {"(x + c) + d = x + (c + d)",
       [](G g, Id x, Id, Id) {
         return op(g, Op::add, {op(g, Op::add, {x, g.number(0.1f)}), g.number(0.7f)});
       },
       1},
  };
  Values ordinary;
  for (int i = 0; i < 676; ++i) ordinary.push_back(0.01f * static_cast<float>(i + 1));
  const std::vector<Values> given = {ordinary, ordinary, Values(676, 1.0f)};
  std::map<std::string_view, int> seen;
  for (const Case& the_case : cases) {
    SCOPED_TRACE(the_case.rule);
    ++seen[the_case.rule];
    const Graph graph = graph_of(the_case);
    const Canonical exact = canonicalise(graph);
    EXPECT_TRUE(same_values(interpret(exact.graph, inputs()).value()[0],
                            interpret(graph, inputs()).value()[0]));
    const Canonical fast = canonicalise(graph, {.fast_math = true});
    EXPECT_GE(fast.rewrites, 1u);
    EXPECT_EQ(fast.graph.primitives(), the_case.nodes) << text_of(fast.graph);
    const Values before = interpret(graph, given).value()[0];
    const Values after = interpret(fast.graph, given).value()[0];
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_NEAR(after[i], before[i], 1e-5 * (1 + std::fabs(before[i])));
    }
  }
  for (const Rule& rule : fast_math_rules()) EXPECT_EQ(seen[rule.name], 1) << rule.name;
}

TEST(CanonicaliseTest, ConstantsAreFoldedAndDeadNodesVanish) {
  Graph graph;
  const Id x = *graph.input(DType::f32, {2, 2});
  const Id unused = *graph.input(DType::f32, {3});
  (void)op(graph, Op::exp, {unused});
  const auto values = std::make_shared<const Values>(Values{1, 2, 3, 4});
  const Id weights = *graph.constant(DType::f32, {2, 2}, values);
  const Id turned = op(graph, Op::exp, {*graph.permute(weights, {1, 0})});
  graph.set_outputs({op(graph, Op::matmul, {x, turned})});
  const Canonical canonical = canonicalise(graph);
  EXPECT_EQ(canonical.graph.primitives(), 1u);
  EXPECT_EQ(canonical.graph.inputs().size(), 2u);
  const std::vector<Values> given = {{1, 2, 3, 4}, {0, 0, 0}};
  EXPECT_TRUE(same_values(interpret(canonical.graph, given).value()[0],
                          interpret(graph, given).value()[0]));
}

// One element, repeated, is not made a large constant.
TEST(CanonicaliseTest, ConstantsDoNotGrow) {
  Graph graph;
  graph.set_outputs({*graph.broadcast(graph.number(1), {1000, 1000})});
  EXPECT_EQ(canonicalise(graph).graph[canonicalise(graph).graph.outputs()[0]].op, Op::broadcast);
}

}  // namespace
}  // namespace hoist::graph::program
