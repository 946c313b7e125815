#include "cli/graph/read_program.h"

#include <utility>

namespace hoist::cli {

Result<ReadProgram> read_program(const std::string& file, bool fast_math) {
  Result<graph::text::NamedGraph> graph = graph::text::read(file);
  if (!graph) return graph.error();
  graph::program::CompileOptions options;
  options.fast_math = fast_math;
  auto program = graph::program::Program::compile(graph->graph, options);
  if (!program) return program.error();
  return ReadProgram{*std::move(graph), *std::move(program)};
}

std::string array_name(const std::vector<std::string>& names, size_t i) {
  return names[i].empty() ? std::to_string(i) : names[i];
}

}  // namespace hoist::cli
