// Random circuits of the compiler's grammar, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

#include "graph/circuit/syntax.h"

namespace hoist::graph::circuit {

inline constexpr int kRandomPages = 3;  // pages are 0 to 2

// Few classes, so that operations meet; those of the gates among them.
class RandomCircuit {
 public:
  explicit RandomCircuit(std::mt19937_64& random) : random_(random) {}

  Phrase phrase(bool with_gates) {
    with_gates_ = with_gates;
    Phrase phrase = parallel(2);
    if (pick(6) != 0) return phrase;
    Term term(Term::Kind::transformed);
    term.transform = {.rotate = pick(5) - 2, .twist = pick(9) - 4, .mirror = pick(2) == 0};
    term.body.push_back(std::move(phrase));
    Phrase whole;
    whole.branches.emplace_back().terms.push_back(std::move(term));
    return whole;
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }

  Parallel parallel(int depth) {
    Parallel parallel;
    for (int count = pick(3) == 0 ? 2 : 1; count > 0; --count) {
      Sequence& sequence = parallel.branches.emplace_back();
      for (int terms = 1 + pick(6); terms > 0; --terms) sequence.terms.push_back(term(depth));
    }
    return parallel;
  }

  Term term(int depth) {
    if (depth > 0 && pick(8) == 0) {
      Term term(Term::Kind::group);
      term.body.push_back(parallel(depth - 1));
      return term;
    }
    Term term;
    term.operation = with_gates_ && pick(3) == 0 ? gate() : operation();
    return term;
  }

  Operation gate() {
    constexpr uint8_t kMarks[] = {0, 7, 21, 42};
    if (pick(3) != 0) return {Generator::mark, {plain(kMarks[pick(4)])}};
    return {Generator::copy, {plain(5), plain(static_cast<uint8_t>(6 + pick(3)))}};
  }

  static Sigil plain(uint8_t index) { return {.first = index, .last = index}; }

  Operation operation() {
    constexpr Generator kMemory[] = {Generator::copy, Generator::swap, Generator::merge,
                                     Generator::split};
    Operation operation;
    operation.generator =
        pick(4) != 0 ? kMemory[pick(4)] : static_cast<Generator>(pick(kGenerators));
    if (takes_range(operation.generator) && pick(8) == 0) {
      const auto first = static_cast<uint8_t>(pick(30));
      Sigil sigil{.first = first, .last = static_cast<uint8_t>(first + 1 + pick(12))};
      twist(sigil);
      operation.operands.push_back(sigil);
      return operation;
    }
    const size_t count = operands_of(operation.generator, Grammar::compiler);
    const bool with_pages = pick(5) == 0;
    while (operation.operands.size() < count) operation.operands.push_back(sigil(with_pages));
    return operation;
  }

  Sigil sigil(bool with_page) {
    constexpr uint8_t kClasses[] = {0, 1, 2, 3, 5, 6, 7, 21};
    Sigil sigil = plain(kClasses[pick(pick(2) == 0 ? 8 : 4)]);
    if (pick(8) == 0) twist(sigil);
    if (with_page && pick(4) != 0) sigil.page = static_cast<uint8_t>(pick(kRandomPages));
    return sigil;
  }

  void twist(Sigil& sigil) {
    if (pick(2) == 0) sigil.shift = 'T';
    if (sigil.shift != 0) sigil.amount = pick(5) - 2;
    sigil.mirror = pick(3) == 0;
  }

  std::mt19937_64& random_;
  bool with_gates_ = false;
};

}  // namespace hoist::graph::circuit
