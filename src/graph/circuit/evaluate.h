// What a circuit says: the bytes of its classes, their addresses, and words for a machine.
//
//   Result<Phrase> phrase = parse("R+1@ (copy@c05 . evaluate@c21)", Grammar::spec);
//   Evaluation all = evaluate(*phrase);
//   // bytes 0x4a 0x6a; no addresses; words →ρ[1] phase[h₂=1] evaluate copy[d=0] ←ρ[1]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/circuit/syntax.h"

namespace hoist::graph::circuit {

struct Evaluation {
  // The representative of each class that is named, in the order of the text; a range names all its
  // classes. A class is moved by its own transform first, then by those around it, the inner first.
  std::vector<uint8_t> bytes;
  // 256 · page + byte of each class with a page, in the same order.
  std::vector<uint16_t> addresses;
  // From right to left within a sequence. A word's parameter is that of the first class.
  std::vector<std::string> words;
};

Evaluation evaluate(const Phrase& phrase);

}  // namespace hoist::graph::circuit
