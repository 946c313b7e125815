#include "graph/circuit/block.h"

#include <algorithm>
#include <utility>

namespace hoist::graph::circuit {
namespace {

// A transform around a term; none is not the same as one that moves nothing.
struct Around {
  Transform transform;
  bool is_any = false;
};

class Resolver {
 public:
  explicit Resolver(RuleLog& log) : log_(log) {}

  Block block(const Parallel& parallel, const Around& around) {
    Block block;
    for (const Sequence& sequence : parallel.branches) {
      Branch& branch = block.branches.emplace_back();
      for (const Term& term : sequence.terms) add(term, around, branch);
    }
    return block;
  }

 private:
  void add(const Term& term, const Around& around, Branch& branch) {
    switch (term.kind) {
      case Term::Kind::operation:
        return add(term.operation, around, branch);
      case Term::Kind::group:
        branch.emplace_back(block(term.body.front(), around), true);
        return;
      case Term::Kind::transformed: {
        log_.add("transforms");
        const Around inner{compose(term.transform, around.transform), true};
        branch.emplace_back(block(term.body.front(), inner), false);
      }
    }
  }

  void add(const Operation& operation, const Around& around, Branch& branch) {
    if (operation.operands.front().is_range()) return add_range(operation, around, branch);
    Action action{.generator = operation.generator, .is_plain = !around.is_any};
    for (const Sigil& sigil : operation.operands) {
      const uint8_t index = apply(compose(sigil.transform(), around.transform), sigil.first);
      if (index != sigil.first) log_.add("transforms");
      action.operands.push_back({index, index, sigil.page});
      action.is_plain = action.is_plain && sigil.is_plain();
    }
    branch.emplace_back(std::move(action));
  }

  void add_range(const Operation& operation, const Around& around, Branch& branch) {
    const Sigil& sigil = operation.operands.front();
    const Transform whole = compose(sigil.transform(), around.transform);
    ClassSet images;
    for (int index = sigil.first; index <= sigil.last; ++index) {
      images.set(apply(whole, static_cast<uint8_t>(index)));
    }
    bool is_as_it_was = true;
    for (size_t first = 0; first < images.size(); ++first) {
      if (!images[first]) continue;
      size_t last = first;
      while (last + 1 < images.size() && images[last + 1]) ++last;
      const Place place{static_cast<uint8_t>(first), static_cast<uint8_t>(last), {}};
      is_as_it_was = first == sigil.first && last == sigil.last;
      branch.emplace_back(run(operation.generator, place));
      first = last;
    }
    if (!is_as_it_was) log_.add("transforms");
  }

  // There are no ranges of one class; a merge over a range adds each class to itself.
  static Action run(Generator generator, const Place& place) {
    const bool is_sum = generator == Generator::merge && place.first == place.last;
    return {.generator = generator, .operands = std::vector<Place>(is_sum ? 3 : 1, place)};
  }

  RuleLog& log_;
};

}  // namespace

Item::Item(Kind of) : kind(of) {}
Item::Item(Action to_do) : action(std::move(to_do)) {}
Item::Item(Block block, bool with_parentheses)
    : kind(Kind::group), has_parentheses(with_parentheses) {
  group.push_back(std::move(block));
}

void RuleLog::add(std::string_view rule) {
  if (std::find(rules_.begin(), rules_.end(), rule) == rules_.end()) rules_.emplace_back(rule);
}

Block resolve(const Phrase& phrase, RuleLog& log) { return Resolver(log).block(phrase, {}); }

}  // namespace hoist::graph::circuit
