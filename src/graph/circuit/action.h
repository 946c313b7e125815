// What an operation does, with its transforms applied: which classes it reads and writes.
//
// mark, quote and evaluate change or use their class in a way that is not known here; copy writes
// its destination, swap both classes, merge and split write first + context and first - context to
// the destination.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/circuit/gate_matrix.h"
#include "graph/circuit/syntax.h"
#include "graph/classes/classes.h"

namespace hoist::graph::circuit {

using ClassSet = std::bitset<kByteClasses>;

// A class, some neighbours, or a page of a class.
struct Place {
  uint8_t first = 0;
  uint8_t last = 0;
  std::optional<uint8_t> page = {};

  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Action {
  Generator generator = Generator::mark;
  std::vector<Place> operands = {};  // as in Operation
  bool is_plain = false;             // written without transforms, pages and ranges

  friend bool operator==(const Action&, const Action&) = default;
};

ClassSet classes_read(const Action& action);
// What a mark or a copy writes; nothing of a copy that names one class.
std::optional<uint8_t> class_written(const Action& action);

// The class that a gate marks or copies.
uint8_t class_of(Gate gate);

// The gate that such an action is where nothing reads what it would write, were it plain. A copy
// that reads its own destination is none.
std::optional<Gate> possible_gate(const Action& action);

// An action that has no effect, or the same as one written another way. Only of the compiler's
// grammar: what an operation does to memory is known there alone.
// The rule that says that it has none; empty where it may have one.
std::string_view no_effect(const Action& action);
// Whether the operands of what is symmetric have been put in order.
bool order_operands(Action& action);

enum class Kept : uint8_t { both, first, second, none };
struct Reduction {
  Kept kept = Kept::both;
  std::string_view rule;
};
// What two actions, one right behind the other, come to.
Reduction reduce(const Action& first, const Action& second);

}  // namespace hoist::graph::circuit
