// Reading a circuit for a command, and telling what is wrong with it.
#pragma once

#include <optional>

#include "cli/graph/commands.h"
#include "graph/circuit/syntax.h"

namespace hoist::cli {

struct ReadCircuit {
  std::optional<graph::circuit::Phrase> phrase;  // none: what is wrong has been printed
  graph::circuit::Grammar grammar = graph::circuit::Grammar::compiler;
  int status = 0;  // the exit status where there is none
};
// A wrong expression is a wrong command line; a wrong file is a failure.
ReadCircuit read_circuit(const CircuitSource& source);

}  // namespace hoist::cli
