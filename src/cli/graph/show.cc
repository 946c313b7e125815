#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/graph/commands.h"
#include "cli/graph/read_program.h"
#include "cli/output_rule.h"
#include "cli/report.h"
#include "graph/text/names.h"
#include "graph/text/picture.h"
#include "graph/text/report.h"

namespace hoist::cli {
namespace {

using graph::program::KernelReport;
using graph::program::Node;
using graph::program::Program;
using graph::program::Report;
using nlohmann::ordered_json;

ordered_json arrays_json(const Program& program, const std::vector<std::string>& names,
                         bool of_inputs) {
  ordered_json arrays = ordered_json::array();
  for (size_t i = 0; i < names.size(); ++i) {
    const Node& node = of_inputs ? program.input(i) : program.output(i);
    arrays.push_back(
        {{"name", names[i]}, {"type", graph::text::type_name(node.dtype)}, {"shape", node.shape}});
  }
  return arrays;
}

ordered_json json_of(const ReadProgram& read) {
  const Report& report = read.program->report();
  ordered_json json = {{"name", read.graph.name}};
  json["inputs"] = arrays_json(*read.program, read.graph.inputs, true);
  json["outputs"] = arrays_json(*read.program, read.graph.outputs, false);
  json["nodes_traced"] = report.nodes_traced;
  json["nodes_left"] = report.nodes_left;
  json["rewrites"] = report.rewrites;
  json["bytes_moved"] = report.bytes_moved;
  json["arena_bytes"] = report.arena_bytes;
  json["results_in_place"] = report.results_in_place;
  json["kernels"] = ordered_json::array();
  for (const KernelReport& kernel : report.kernels) {
    json["kernels"].push_back(
        {{"nodes", graph::text::operations_of(*read.program, kernel)}, {"bytes", kernel.bytes}});
  }
  return json;
}

void print_arrays(const char* what, const Program& program, const std::vector<std::string>& names,
                  bool of_inputs) {
  for (size_t i = 0; i < names.size(); ++i) {
    const Node& node = of_inputs ? program.input(i) : program.output(i);
    fmt::print("{:8} {} {}\n", i == 0 ? what : "", array_name(names, i),
               graph::text::type_text(node.dtype, node.shape));
  }
}

void print(const ReadProgram& read) {
  print_arrays("inputs", *read.program, read.graph.inputs, true);
  print_arrays("outputs", *read.program, read.graph.outputs, false);
  fmt::print("{}", graph::text::report_text(*read.program));
}

}  // namespace

int graph_show(const GraphShowOptions& options) {
  int status = kDone;
  const std::optional<ReadProgram> read = read_program(options.file, options.fast_math, status);
  if (!read) return status;
  if (!options.picture.empty()) {
    const std::string title = read->graph.name.empty() ? options.file : read->graph.name;
    const OutputRule rule = output_rule(options.force, {options.file});
    const Status written =
        write_output(options.picture, graph::text::picture(*read->program, title), rule);
    if (!written) return report(written.error());
  }
  if (options.json) {
    fmt::print("{}\n", json_of(*read).dump(2));
  } else {
    print(*read);
  }
  return kDone;
}

}  // namespace hoist::cli
