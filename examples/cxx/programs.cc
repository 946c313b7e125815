#include <hoist/graph.hpp>
#include <iostream>
#include <vector>

#include "tour.h"

using namespace hoist::graph::program;
using namespace hoist::graph;

namespace {

// softmax(x w), with x of 2 x 3 and w of 3 x 2.
hoist::Result<Graph> classifier() {
  Graph graph;
  const auto x = graph.input(DType::f32, {2, 3});
  if (!x) return x.error();
  const auto w = graph.input(DType::f32, {3, 2});
  if (!w) return w.error();
  const auto product = graph.add_node(Op::matmul, {*x, *w});
  if (!product) return product.error();
  const auto y = softmax(graph, *product, -1);
  if (!y) return y.error();
  graph.set_outputs({*y});
  return graph;
}

}  // namespace

hoist::Status tour_programs() {
  const auto graph = classifier();
  if (!graph) return graph.error();
  const auto program = Program::compile(*graph);
  if (!program) return program.error();
  std::cout << text::report_text(**program);

  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<float> w = {0.5F, 0, 0.5F, 0, 0, 1.5F};
  std::vector<float> y(4);
  const void* const inputs[] = {x.data(), w.data()};
  void* const outputs[] = {y.data()};
  if (auto done = (*program)->run(inputs, outputs); !done) return done;
  std::cout << "softmax(x w): " << (y[0] < y[1] && y[0] + y[1] > 0.999F) << '\n';

  const auto again = text::parse(text::print({*graph, "classifier", {"x", "w"}, {"y"}}), "text");
  if (!again) return again.error();
  std::cout << "its text has " << again->graph.size() << " nodes\n";

  const auto phrase = circuit::parse("mark@c21 . mark@c21 . mark@c07", circuit::Grammar::compiler);
  if (!phrase) return phrase.error();
  std::cout << "circuit: " << circuit::canonicalize(*phrase).text << '\n';
  return {};
}
