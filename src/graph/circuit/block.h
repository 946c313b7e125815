// A circuit as the canonicaliser sees it: actions instead of operations, gates found, parentheses
// that change nothing gone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/circuit/action.h"

namespace hoist::graph::circuit {

struct Block;

struct Item {
  enum class Kind : uint8_t { gates, action, group };

  explicit Item(Kind of);
  explicit Item(Action to_do);
  Item(Block block, bool with_parentheses);

  Kind kind = Kind::action;
  std::vector<Gate> gates;  // a product of them
  Action action;
  std::vector<Block> group;  // one
  bool has_parentheses = false;
};

using Branch = std::vector<Item>;

struct Block {
  std::vector<Branch> branches;
};

// The names of the rules that were used, each once, in the order of their first use.
class RuleLog {
 public:
  void add(std::string_view rule);
  const std::vector<std::string>& rules() const { return rules_; }

 private:
  std::vector<std::string> rules_;
};

// Applies all transforms. A range whose classes are no range any more becomes several.
Block resolve(const Phrase& phrase, RuleLog& log);

}  // namespace hoist::graph::circuit
