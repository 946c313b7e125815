// Tensor programs as text: one node a line, each after those that it reads.
//
//   hoist graph 1 layer
//   %x = input : f32[2,3]
//   %w = input : f32[3,4]
//   %2 = matmul %x, %w : f32[2,4]
//   %3 = constant 0 : f32
//   %4 = maximum %2, %3 : f32[2,4]
//   return y = %4
//
// docs/reference/graph-text.md has the whole language. A text is as good as the graph: print() and
// parse() lose no bit of a constant, and no name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.h"
#include "base/result.h"
#include "graph/program/graph.h"
#include "px/text/diagnostic.h"

namespace hoist::graph::text {

// What is not needed to run a graph, but to talk about it. Names are empty, or is_name().
struct NamedGraph {
  program::Graph graph;
  std::string name;
  std::vector<std::string> inputs;   // one for each, no two of them equal
  std::vector<std::string> outputs;  // likewise
};

// A longer text is refused.
inline constexpr size_t kMostBytes = size_t{1} << 30;

// Whether a name may be written: letters, digits, _ and . behind a letter or _.
bool is_name(std::string_view word);

// In one layout. Nodes that no output depends on are left out, inputs are not. Names that cannot be
// written, or are there twice, are left out.
std::string print(const NamedGraph& graph);

// Nothing where `diagnostics` has an error: the first one.
std::optional<NamedGraph> parse(const px::Source& source, px::Diagnostics& diagnostics);
// `invalid_argument` with place, line, caret and mend. `name`: of the text.
Result<NamedGraph> parse(std::string text, const std::string& name);

// Reads a file.
Result<NamedGraph> read(const std::string& path);
Status write(const NamedGraph& graph, const std::string& path, const OutputRule& rule);

}  // namespace hoist::graph::text
