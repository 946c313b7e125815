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

}  // namespace
}  // namespace hoist::graph::program
