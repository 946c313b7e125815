// The text of a circuit, in one layout: parse(print(x)) == x.
#pragma once

#include <string>

#include "graph/circuit/syntax.h"

namespace hoist::graph::circuit {

std::string print(const Phrase& phrase);
std::string print(const Operation& operation);

}  // namespace hoist::graph::circuit
