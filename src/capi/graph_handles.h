// Graphs and programs of the C library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/program/program.h"
#include "graph/text/program_text.h"
#include "hoist/graph.h"

struct hoist_graph {
  hoist::graph::text::NamedGraph named;
};

struct hoist_graph_program {
  std::shared_ptr<const hoist::graph::program::Program> program;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<hoist_graph_array> inputs;  // their names are those above
  std::vector<hoist_graph_array> outputs;
};

namespace hoist::capi {

// `name` must outlive it.
hoist_graph_array array_of(const graph::program::Node& node, const char* name);

// `not_found` for a name that no type of programs has.
Result<graph::program::DType> graph_type(const char* name);

}  // namespace hoist::capi
