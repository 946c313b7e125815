// Tensor programs: graphs of operations on arrays, compiled into few fused loops; and circuits over
// the 96 classes of bytes. Part of Hoist's C++ library (hoist/array.hpp says how to link it, and
// how errors come).
//
// A graph is built node by node; shapes and element types are inferred and checked:
//
//   Graph graph;
//   Result<Id> x = graph.input(DType::f32, {2, 3});
//   if (!x) return x.error();
//   Result<Id> w = graph.input(DType::f32, {3, 4});
//   if (!w) return w.error();
//   Result<Id> product = graph.add_node(Op::matmul, {*x, *w});
//   if (!product) return product.error();
//   Result<Id> y = graph.add_node(Op::relu, {*product});
//   if (!y) return y.error();
//   graph.set_outputs({*y});
//
//   Result<std::shared_ptr<const Program>> program = Program::compile(graph);
//   if (!program) return program.error();
//   const void* inputs[] = {x_values.data(), w_values.data()};
//   void* outputs[] = {y_values.data()};
//   Status done = (*program)->run(inputs, outputs);
//   if (!done) return done.error();
//   use(report_text(**program));  // 2 nodes traced, 2 left, 1 kernel
//
// Graphs have a text, which every front of Hoist reads (docs/reference/graph-text.md):
//
//   std::string text = print(NamedGraph{graph, "layer", {"x", "w"}, {"y"}});
//   Result<NamedGraph> again = parse(text, "layer.graph");
//   if (!again) return again.error();  // its message has line, column, caret and mend
//
// Circuits:
//
//   Result<circuit::Phrase> phrase =
//       circuit::parse("mark@c21 . mark@c21", circuit::Grammar::compiler);
//   if (!phrase) return phrase.error();
//   use(circuit::canonicalize(*phrase).text);
//
// Names. In namespace hoist::graph:
//
//   program::Graph, Id, Node, Op, Values      graph/program/graph.h, op.h
//   program::Program, CompileOptions, Report  graph/program/program.h: pointers or array::View
//   program::softmax(), gelu_tanh(), ...      graph/program/composites.h
//   program::interpret()                      graph/program/interpreter.h: slowly, to compare with
//   text::print(), parse(), NamedGraph        graph/text/program_text.h
//   text::report_text(), picture()            graph/text/report.h, picture.h: kernels, as SVG
//   circuit::parse(), print()                 graph/circuit/parser.h, print.h
//   circuit::canonicalize(), evaluate()       graph/circuit/canonical.h, evaluate.h
//
// The examples above are `using namespace hoist::graph::program` and hoist::graph::text, too.
//
// Thread safety: a Graph is for one thread at a time. Any number of threads may run one Program.
//
// Results do not depend on the number of threads. docs/reference/graph-programs.md says how exact
// they are.
#pragma once

#include "graph/circuit/canonical.h"
#include "graph/circuit/evaluate.h"
#include "graph/circuit/parser.h"
#include "graph/circuit/print.h"
#include "graph/program/composites.h"
#include "graph/program/graph.h"
#include "graph/program/interpreter.h"
#include "graph/program/program.h"
#include "graph/text/picture.h"
#include "graph/text/program_text.h"
#include "graph/text/report.h"
