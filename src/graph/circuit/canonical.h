// One text for all circuits that are known to do the same.
//
//   Result<Phrase> phrase = parse("copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21",
//                                 Grammar::compiler);
//   Canonical canonical = canonicalize(*phrase, {.grammar = Grammar::compiler});
//   // canonical.text is "mark@c00"
//
// Products of gates have the same text exactly where their matrices are equal, phases included.
// Elsewhere texts are equal only where the effects on the memory of the classes are: operations on
// different pages, twists or destinations are never taken for the same.
// docs/reference/graph-circuits.md has the rules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "graph/circuit/gate_group.h"
#include "graph/circuit/syntax.h"

namespace hoist::graph::circuit {

struct CanonicalOptions {
  Grammar grammar = Grammar::compiler;
  // mark@c00, mark@c07, mark@c21, mark@c42 and copy@c05 are gates where nothing in the circuit
  // reads what they would write. Without: they are operations on memory like all others.
  bool gates = true;
};

struct Canonical {
  Phrase phrase;
  std::string text;  // print(phrase)
  // Where the circuit is a product of gates.
  std::optional<GateElement> group_element;
  size_t before = 0;  // operations
  size_t after = 0;
  std::vector<std::string> rules;  // those used, in the order of their first use
};

// Takes time and memory in proportion to the phrase. `phrase` is of options.grammar.
Canonical canonicalize(const Phrase& phrase, const CanonicalOptions& options = {});

}  // namespace hoist::graph::circuit
