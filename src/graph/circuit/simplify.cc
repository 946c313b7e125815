#include "graph/circuit/simplify.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph/circuit/gate_rules.h"

namespace hoist::graph::circuit {
namespace {

template <typename Use>
void for_each_action(const Block& block, const Use& use) {
  for (const Branch& branch : block.branches) {
    for (const Item& item : branch) {
      if (item.kind == Item::Kind::action) use(item.action);
      if (item.kind == Item::Kind::group) for_each_action(item.group.front(), use);
    }
  }
}

bool is_gate(const Action& action, const ClassSet& read) {
  if (!action.is_plain || !possible_gate(action)) return false;
  const std::optional<uint8_t> written = class_written(action);
  return !written || !read[*written];
}

// Builds a branch item by item; its end is always as short as it gets.
class BranchBuilder {
 public:
  BranchBuilder(const CanonicalOptions& options, RuleLog& log) : options_(options), log_(log) {}

  void add(Gate gate) {
    if (branch_.empty() || branch_.back().kind != Item::Kind::gates) {
      branch_.emplace_back(Item::Kind::gates);
    }
    branch_.back().gates.push_back(gate);
  }

  void add(Action action) {
    drop_identity();
    if (options_.grammar == Grammar::compiler && is_absorbed(action)) return;
    branch_.emplace_back(std::move(action));
  }

  void add(Block group, bool has_parentheses) {
    drop_identity();
    branch_.emplace_back(std::move(group), has_parentheses);
  }

  Branch finish() {
    if (branch_.size() > 1) drop_identity();
    return std::move(branch_);
  }

 private:
  // Gates at the end whose product is nothing.
  void drop_identity() {
    if (branch_.empty() || branch_.back().kind != Item::Kind::gates) return;
    const std::vector<Gate>& gates = branch_.back().gates;
    if (product(gates) != GateGroup::identity()) return;
    log_shortened(gates, {Gate::identity}, log_);
    log_.add("I.A = A");
    branch_.pop_back();
  }

  bool is_absorbed(Action& action) {
    if (const std::string_view rule = no_effect(action); !rule.empty()) {
      log_.add(rule);
      return true;
    }
    if (order_operands(action)) log_.add("order of operands");
    while (!branch_.empty() && branch_.back().kind == Item::Kind::action) {
      const Reduction reduction = reduce(branch_.back().action, action);
      if (reduction.kept == Kept::both) return false;
      log_.add(reduction.rule);
      if (reduction.kept != Kept::first) branch_.pop_back();
      if (reduction.kept != Kept::second) return true;
    }
    return false;
  }

  const CanonicalOptions& options_;
  RuleLog& log_;
  Branch branch_;
};

class Simplifier {
 public:
  Simplifier(const CanonicalOptions& options, const ClassSet& read, ClassSet& destinations,
             RuleLog& log)
      : options_(options), read_(read), destinations_(destinations), log_(log) {}

  Block block(const Block& block) {
    Block result;
    for (const Branch& branch : block.branches) {
      BranchBuilder builder(options_, log_);
      for (const Item& item : branch) add(item, builder);
      Branch simple = builder.finish();
      if (simple.size() == 1 && simple.front().kind == Item::Kind::group) {
        if (simple.front().has_parentheses) log_.add("parentheses");
        std::vector<Branch>& inner = simple.front().group.front().branches;
        std::move(inner.begin(), inner.end(), std::back_inserter(result.branches));
      } else {
        result.branches.push_back(std::move(simple));
      }
    }
    return result;
  }

 private:
  void add(const Item& item, BranchBuilder& builder) {
    switch (item.kind) {
      case Item::Kind::gates:
        for (const Gate gate : item.gates) builder.add(gate);
        return;
      case Item::Kind::action:
        if (!options_.gates || !is_gate(item.action, read_)) return builder.add(item.action);
        builder.add(*possible_gate(item.action));
        if (item.action.operands.size() == 2) destinations_.set(item.action.operands[1].first);
        return;
      case Item::Kind::group: {
        Block inner = block(item.group.front());
        if (inner.branches.size() > 1) {
          return builder.add(std::move(inner), item.has_parentheses);
        }
        if (item.has_parentheses) log_.add("parentheses");
        for (const Item& each : inner.branches.front()) add(each, builder);
      }
    }
  }

  const CanonicalOptions& options_;
  const ClassSet& read_;
  ClassSet& destinations_;
  RuleLog& log_;
};

}  // namespace

ClassSet classes_read(const Block& block, const CanonicalOptions& options) {
  ClassSet read;
  for (bool has_grown = true; has_grown;) {
    ClassSet all = read;
    for_each_action(block, [&](const Action& action) {
      if (!options.gates || !is_gate(action, read)) all |= classes_read(action);
    });
    has_grown = all != read;
    read = all;
  }
  return read;
}

Block simplify(const Block& block, const CanonicalOptions& options, const ClassSet& read,
               ClassSet& destinations, RuleLog& log) {
  return Simplifier(options, read, destinations, log).block(block);
}

void log_shortened(const std::vector<Gate>& gates, const std::vector<Gate>& word, RuleLog& log) {
  const Shortened shortened = shorten(gates);
  for (const std::string_view rule : shortened.rules) log.add(rule);
  if (shortened.word != word) log.add("equal matrices");
}

GateElement product(const std::vector<Gate>& gates) {
  GateElement element = GateGroup::identity();
  for (const Gate gate : gates) element = gate_group().times(element, gate);
  return element;
}

}  // namespace hoist::graph::circuit
