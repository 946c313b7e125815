// Reads what an operation names: c21, c05->c06, c00[c01,c02], c[0..9].
#pragma once

#include <vector>

#include "graph/circuit/syntax.h"
#include "graph/circuit/token_reader.h"

namespace hoist::graph::circuit {

// Empty where the reader has failed.
std::vector<Sigil> parse_operands(TokenReader& tokens, Generator generator, Grammar grammar);

// "+3" or "-3"; 0 where the reader has failed.
int64_t parse_amount(TokenReader& tokens);

}  // namespace hoist::graph::circuit
