#include "graph/circuit/syntax.h"

#include <algorithm>
#include <iterator>

namespace hoist::graph::circuit {
namespace {

constexpr std::string_view kNames[kGenerators] = {"mark",  "copy",  "swap",    "merge",
                                                  "split", "quote", "evaluate"};

}  // namespace

std::string_view name(Grammar grammar) {
  return grammar == Grammar::compiler ? "compiler" : "spec";
}

std::optional<Grammar> find_grammar(std::string_view text) {
  for (const Grammar grammar : {Grammar::compiler, Grammar::spec}) {
    if (name(grammar) == text) return grammar;
  }
  return std::nullopt;
}

std::string_view name(Generator generator) { return kNames[static_cast<int>(generator)]; }

std::optional<Generator> find_generator(std::string_view text) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Generator>(found - std::begin(kNames));
}

size_t operands_of(Generator generator, Grammar grammar) {
  if (grammar == Grammar::spec) return 1;
  switch (generator) {
    case Generator::copy:
    case Generator::swap:
      return 2;
    case Generator::merge:
    case Generator::split:
      return 3;
    default:
      return 1;
  }
}

bool takes_range(Generator generator) {
  return generator != Generator::copy && generator != Generator::swap &&
         generator != Generator::split;
}

Transform Sigil::transform() const {
  Transform transform{.mirror = mirror};
  if (shift == 'R') transform.rotate = amount;
  if (shift == 'D') transform.triality = amount;
  if (shift == 'T') transform.twist = amount;
  return transform;
}

Term::Term() = default;
Term::Term(Kind of) : kind(of) {}

bool operator==(const Term& a, const Term& b) {
  return a.kind == b.kind && a.operation == b.operation && a.transform == b.transform &&
         a.body == b.body;
}

bool operator==(const Sequence& a, const Sequence& b) { return a.terms == b.terms; }
bool operator==(const Parallel& a, const Parallel& b) { return a.branches == b.branches; }

size_t count_operations(const Phrase& phrase) {
  size_t count = 0;
  for (const Sequence& branch : phrase.branches) {
    for (const Term& term : branch.terms) {
      count += term.kind == Term::Kind::operation ? 1 : count_operations(term.body.front());
    }
  }
  return count;
}

}  // namespace hoist::graph::circuit
