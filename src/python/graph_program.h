// Programs and their builder, for hoist.graph.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "graph/program/program.h"
#include "python/graph_gpu.h"

namespace hoist::python {

// A program, and what its callers need to know about it.
struct GraphProgram {
  std::shared_ptr<const graph::program::Program> program;
  // Whether a call takes a tenth of a millisecond at most, within which no other thread would get
  // the interpreter's lock.
  bool is_short = false;
  std::shared_ptr<const graph::program::Graph> graph;  // as it was compiled
  std::shared_ptr<GraphGpu> gpu = std::make_shared<GraphGpu>();

  // Results as a tuple: Arrays or NumPy's. `outs`: None, or a sequence of arrays.
  nanobind::tuple run(nanobind::sequence arrays, nanobind::object outs, bool gives_arrays) const;
};

// Compiles. `native`: when kernels are compiled for this CPU: "auto", "now" or "off".
GraphProgram compiled_program(graph::program::Graph graph, graph::program::CompileOptions options,
                              const std::string& native);

void define_graph_builder(nanobind::module_& module);
void define_graph_program(nanobind::module_& module);
void define_graph_call(nanobind::module_& module);
void define_graph_text(nanobind::module_& module);

}  // namespace hoist::python
