// Compiled programs against the interpreter: random graphs, shapes and special values.
#include <gtest/gtest.h>

#include "graph/program/random_graph.h"

namespace hoist::graph::program {
namespace {

TEST(RandomGraphsTest, RandomGraphsGiveWhatTheInterpreterGives) {
  RandomValues seeds(test_seed());
  for (int i = 0; i < 600; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Graph graph = RandomGraph(random).make(1 + random.below(20));
    ASSERT_NO_FATAL_FAILURE(check_all_ways(graph, random, random.below(2) == 0)) << i;
  }
}

// Outputs in the memory of inputs, in place where the plan allows it.
TEST(RandomGraphsTest, OutputsMayBeInputs) {
  RandomValues seeds(test_seed());
  size_t tried = 0;
  for (int i = 0; i < 600; ++i) {
    const uint64_t seed = seeds();
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Graph graph = RandomGraph(random).make(1 + random.below(6));
    const auto program = Program::compile(graph).value();
    std::vector<Values> inputs;
    for (const Id id : graph.inputs()) inputs.push_back(random.values(graph[id], false));
    const std::vector<Values> expected = interpret(graph, inputs).value();
    for (size_t o = 0; o < program->outputs(); ++o) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (program->output(o).dtype != program->input(k).dtype) continue;
        if (expected[o].empty() || expected[o].size() != inputs[k].size()) continue;
        ++tried;
        const Values found = run_values(*program, inputs, {{o, k}})[o];
        ASSERT_TRUE(same_values(found, expected[o])) << "output " << o << " is input " << k << "\n"
                                                     << text_of(graph);
      }
    }
  }
  EXPECT_GT(tried, 100u);
}

}  // namespace
}  // namespace hoist::graph::program
