// The commands of `hoist graph`. They take what the command line said (main.cc), do the work and
// give the exit status.
#pragma once

#include <string>

namespace hoist::cli {

// Where a circuit comes from, and its grammar.
struct CircuitSource {
  std::string expression;  // "-" is standard input; empty where there is a file
  std::string file;        // "-" is standard input
  std::string grammar = "compiler";
};

struct GraphCanonOptions {
  CircuitSource source;
  bool gates = true;
  bool json = false;
};
int graph_canon(const GraphCanonOptions& options);

struct GraphEvalOptions {
  CircuitSource source;
  bool json = false;
};
int graph_eval(const GraphEvalOptions& options);

}  // namespace hoist::cli
