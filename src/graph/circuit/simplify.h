// One pass of the canonicaliser.
#pragma once

#include "graph/circuit/block.h"
#include "graph/circuit/canonical.h"
#include "graph/circuit/gate_group.h"

namespace hoist::graph::circuit {

// The classes that the block's actions read which are no gates. With options.gates an action is a
// gate where it is plain, looks like one, and nothing reads what it would write.
ClassSet classes_read(const Block& block, const CanonicalOptions& options);

// Finds the gates, shortens actions that follow one another, and drops parentheses that change
// nothing. A branch of which nothing is left is empty. `destinations` gets those of all gates.
Block simplify(const Block& block, const CanonicalOptions& options, const ClassSet& read,
               ClassSet& destinations, RuleLog& log);

// Tells by which rules `gates` became `word`: "equal matrices" where the rules of the reference do
// not.
void log_shortened(const std::vector<Gate>& gates, const std::vector<Gate>& word, RuleLog& log);

GateElement product(const std::vector<Gate>& gates);

}  // namespace hoist::graph::circuit
