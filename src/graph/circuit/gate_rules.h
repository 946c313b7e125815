// The rules by which the reference shortens words of gates, to tell which of them a word obeys. The
// result itself comes from the group (gate_group.h): the rules alone leave some words unequal that
// are equal.
#pragma once

#include <string_view>
#include <vector>

#include "graph/circuit/gate_matrix.h"

namespace hoist::graph::circuit {

// The rules that shorten `word`, in the order of their first use, and what is left of it. Linear
// time: gives up after 100 rounds.
struct Shortened {
  std::vector<std::string_view> rules;
  std::vector<Gate> word;
};
Shortened shorten(std::vector<Gate> word);

}  // namespace hoist::graph::circuit
