#include "graph/circuit/canonical.h"

#include <utility>

#include "graph/circuit/print.h"
#include "graph/circuit/simplify.h"

namespace hoist::graph::circuit {
namespace {

constexpr uint8_t kUsualDestination = 6;  // of a copy that is a gate

Sigil sigil_of(const Place& place) {
  return {.first = place.first, .last = place.last, .page = place.page};
}

// Where a gate's copy can go: a class that no action reads.
std::optional<uint8_t> free_destination(const ClassSet& read) {
  if (!read[kUsualDestination]) return kUsualDestination;
  for (uint8_t index = 0; index < kByteClasses; ++index) {
    if (!read[index] && index != class_of(Gate::copy)) return index;
  }
  return std::nullopt;
}

// Writes a simplified block as a phrase that reads back as the same gates and actions.
class Writer {
 public:
  Writer(const Block& block, const CanonicalOptions& options, const ClassSet& read, RuleLog& log)
      : options_(options), destination_(free_destination(read)), log_(log) {
    collect_read_for_certain(block);
    if (!options.gates) return;
    for (const Gate gate : {Gate::copy, Gate::x, Gate::z, Gate::s, Gate::identity}) {
      const bool is_at_hand = gate == Gate::copy
                                  ? options.grammar == Grammar::spec || destination_.has_value()
                                  : !read[class_of(gate)];
      if (is_at_hand) at_hand_ |= set_of(gate);
    }
  }

  std::optional<uint8_t> destination() const { return destination_; }

  Phrase phrase(const Block& block) {
    Phrase phrase;
    for (const Branch& branch : block.branches) {
      std::vector<Term>& terms = phrase.branches.emplace_back().terms;
      for (const Item& item : branch) add(item, terms);
      if (terms.empty()) add_nothing(terms);
    }
    return phrase;
  }

 private:
  // What is read by actions that read as actions however they are written. An action that reads as
  // a gate, were it plain, is plain where such an action reads what it writes.
  void collect_read_for_certain(const Block& block) {
    for (ClassSet before = ~ClassSet(); before != certain_;) {
      before = certain_;
      collect(block);
    }
  }

  void collect(const Block& block) {
    for (const Branch& branch : block.branches) {
      for (const Item& item : branch) {
        if (item.kind == Item::Kind::group) collect(item.group.front());
        if (item.kind == Item::Kind::action && !looks_like_gate(item.action)) {
          certain_ |= classes_read(item.action);
        }
      }
    }
  }

  bool looks_like_gate(const Action& action) const {
    if (!options_.gates || !possible_gate(action)) return false;
    const std::optional<uint8_t> written = class_written(action);
    return !written || !certain_[*written];
  }

  void add(const Item& item, std::vector<Term>& terms) {
    switch (item.kind) {
      case Item::Kind::gates: {
        const GateElement element = product(item.gates);
        const std::vector<Gate>& word = gate_group().word(element, at_hand_);
        log_shortened(item.gates, word, log_);
        if (element == GateGroup::identity()) return add_nothing(terms);
        for (const Gate gate : word) add(gate, terms);
        return;
      }
      case Item::Kind::action:
        return add(item.action, terms);
      case Item::Kind::group:
        terms.emplace_back(Term::Kind::group);
        terms.back().body.push_back(phrase(item.group.front()));
    }
  }

  void add(Gate gate, std::vector<Term>& terms) {
    Action action{.generator = gate == Gate::copy ? Generator::copy : Generator::mark};
    const uint8_t index = class_of(gate);
    action.operands.push_back({index, index, {}});
    if (gate == Gate::copy && options_.grammar == Grammar::compiler) {
      action.operands.push_back({*destination_, *destination_, {}});
    }
    add_operation(action, terms);
  }

  // A twist of nothing says that it is no gate.
  void add(const Action& action, std::vector<Term>& terms) {
    add_operation(action, terms);
    if (looks_like_gate(action)) terms.back().operation.operands.front().shift = 'T';
  }

  static void add_operation(const Action& action, std::vector<Term>& terms) {
    Operation& operation = terms.emplace_back().operation;
    operation.generator = action.generator;
    for (const Place& place : action.operands) operation.operands.push_back(sigil_of(place));
  }

  // What does nothing: mark@c00 where that is a gate.
  void add_nothing(std::vector<Term>& terms) {
    if ((at_hand_ & set_of(Gate::identity)) == 0 && options_.grammar == Grammar::compiler) {
      return add_operation({Generator::copy, {Place(), Place()}}, terms);
    }
    for (const Gate gate : gate_group().word(GateGroup::identity(), at_hand_)) add(gate, terms);
  }

  const CanonicalOptions& options_;
  std::optional<uint8_t> destination_;
  RuleLog& log_;
  ClassSet certain_;
  GateSet at_hand_ = 0;
};

// The product of a block that has nothing but gates.
std::optional<GateElement> element_of(const Block& block, const CanonicalOptions& options) {
  if (!options.gates || block.branches.size() != 1) return std::nullopt;
  const Branch& branch = block.branches.front();
  if (branch.empty()) return GateGroup::identity();
  if (branch.size() > 1 || branch.front().kind != Item::Kind::gates) return std::nullopt;
  return product(branch.front().gates);
}

}  // namespace

Canonical canonicalize(const Phrase& phrase, const CanonicalOptions& options) {
  RuleLog log;
  ClassSet destinations;
  Block block = resolve(phrase, log);
  // Fewer actions read fewer classes, so that more of the others may be gates.
  ClassSet read = classes_read(block, options);
  for (bool is_done = false; !is_done;) {
    block = simplify(block, options, read, destinations, log);
    const ClassSet still_read = classes_read(block, options);
    is_done = still_read == read;
    read = still_read;
  }
  Writer writer(block, options, read, log);
  Canonical canonical;
  canonical.phrase = writer.phrase(block);
  if (writer.destination()) destinations.reset(*writer.destination());
  if (destinations.any()) log.add("destination");
  canonical.text = print(canonical.phrase);
  canonical.group_element = element_of(block, options);
  canonical.before = count_operations(phrase);
  canonical.after = count_operations(canonical.phrase);
  canonical.rules = log.rules();
  return canonical;
}

}  // namespace hoist::graph::circuit
