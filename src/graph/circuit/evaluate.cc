#include "graph/circuit/evaluate.h"

#include <fmt/core.h>

#include "graph/classes/address.h"
#include "graph/classes/classes.h"

namespace hoist::graph::circuit {
namespace {

// Calls `use(class)` for each class that a sigil names, transformed.
template <typename Use>
void for_each_class(const Sigil& sigil, const Transform& around, const Use& use) {
  const Transform whole = compose(sigil.transform(), around);
  for (int index = sigil.first; index <= sigil.last; ++index) {
    use(apply(whole, static_cast<uint8_t>(index)));
  }
}

class BytesEvaluator {
 public:
  explicit BytesEvaluator(Evaluation& result) : result_(result) {}

  void add(const Parallel& parallel, const Transform& around) {
    for (const Sequence& branch : parallel.branches) {
      for (const Term& term : branch.terms) add(term, around);
    }
  }

 private:
  void add(const Term& term, const Transform& around) {
    if (term.kind != Term::Kind::operation) {
      return add(term.body.front(), compose(term.transform, around));
    }
    for (const Sigil& sigil : term.operation.operands) {
      for_each_class(sigil, around, [&](uint8_t index) { add(index, sigil); });
    }
  }

  void add(uint8_t index, const Sigil& sigil) {
    const uint8_t byte = representative(index);
    result_.bytes.push_back(byte);
    if (!sigil.page) return;
    const BeltAddress address{.page = *sigil.page, .byte = byte};
    result_.addresses.push_back(static_cast<uint16_t>(address.offset()));
  }

  Evaluation& result_;
};

class WordsEvaluator {
 public:
  explicit WordsEvaluator(std::vector<std::string>& words) : words_(words) {}

  void add(const Parallel& parallel, const Transform& around) {
    if (parallel.branches.size() == 1) return add(parallel.branches.front(), around);
    for (size_t i = 0; i < parallel.branches.size(); ++i) {
      words_.emplace_back(i == 0 ? "⊗_begin" : "⊗_sep");
      add(parallel.branches[i], around);
    }
    words_.emplace_back("⊗_end");
  }

 private:
  void add(const Sequence& sequence, const Transform& around) {
    for (auto term = sequence.terms.rbegin(); term != sequence.terms.rend(); ++term) {
      add(*term, around);
    }
  }

  void add(const Term& term, const Transform& around) {
    switch (term.kind) {
      case Term::Kind::operation:
        return for_each_class(term.operation.operands.front(), around, [&](uint8_t index) {
          add(term.operation.generator, components(index));
        });
      case Term::Kind::group:
        return add(term.body.front(), around);
      case Term::Kind::transformed: {
        const Transform whole = compose(term.transform, around);
        add("→", whole);
        add(term.body.front(), whole);
        add("←", whole);
      }
    }
  }

  // A control word says what is in force within, those around it included.
  void add(const char* arrow, const Transform& transform) {
    if (transform.rotate != 0) words_.push_back(fmt::format("{}ρ[{}]", arrow, transform.rotate));
    if (transform.triality != 0) {
      words_.push_back(fmt::format("{}δ[{}]", arrow, (transform.triality % 3 + 3) % 3));
    }
    if (transform.twist != 0) words_.push_back(fmt::format("{}τ[{}]", arrow, transform.twist));
    if (transform.mirror) words_.push_back(fmt::format("{}μ", arrow));
  }

  void add(Generator generator, const Components& of) {
    switch (generator) {
      case Generator::mark:
      case Generator::swap:
        words_.emplace_back(name(generator));
        return;
      case Generator::copy:
      case Generator::merge:
        return words_.push_back(fmt::format("{}[d={}]", name(generator), of.modality));
      case Generator::split:
      case Generator::quote:
        return words_.push_back(fmt::format("{}[ℓ={}]", name(generator), of.context));
      case Generator::evaluate:
        words_.push_back(fmt::format("phase[h₂={}]", of.scope));
        words_.emplace_back(name(generator));
    }
  }

  std::vector<std::string>& words_;
};

}  // namespace

Evaluation evaluate(const Phrase& phrase) {
  Evaluation result;
  BytesEvaluator(result).add(phrase, {});
  WordsEvaluator(result.words).add(phrase, {});
  return result;
}

}  // namespace hoist::graph::circuit
