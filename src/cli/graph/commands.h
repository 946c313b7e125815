// The commands of `hoist graph`. They take what the command line said (main.cc), do the work and
// give the exit status.
#pragma once

#include <string>
#include <vector>

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

struct GraphShowOptions {
  std::string file;
  std::string picture;  // a file; empty: none
  bool force = false;
  bool fast_math = false;
  bool json = false;
};
int graph_show(const GraphShowOptions& options);

struct GraphRunOptions {
  std::string file;
  std::vector<std::string> inputs;   // "x=x.npy"
  std::vector<std::string> outputs;  // "y=y.npy"
  bool force = false;
  bool fast_math = false;
};
int graph_run(const GraphRunOptions& options);

}  // namespace hoist::cli
