#include "cli/graph/read_program.h"

#include <utility>

#include "base/file.h"
#include "cli/report.h"

namespace hoist::cli {

std::optional<ReadProgram> read_program(const std::string& file, bool fast_math, int& status) {
  Result<std::string> text = read_file(file, graph::text::kMostBytes);
  if (!text) {
    status = report(text.error());
    return std::nullopt;
  }
  const px::Source source(file, *std::move(text), graph::text::kMostBytes);
  px::Diagnostics diagnostics;
  std::optional<graph::text::NamedGraph> graph = graph::text::parse(source, diagnostics);
  if (!graph) {
    print_error(px::render(source, diagnostics));
    status = kFailed;
    return std::nullopt;
  }
  graph::program::CompileOptions options;
  options.fast_math = fast_math;
  auto program = graph::program::Program::compile(graph->graph, options);
  if (!program) {
    status = report(program.error());
    return std::nullopt;
  }
  return ReadProgram{*std::move(graph), *std::move(program)};
}

std::string array_name(const std::vector<std::string>& names, size_t i) {
  return names[i].empty() ? std::to_string(i) : names[i];
}

}  // namespace hoist::cli
