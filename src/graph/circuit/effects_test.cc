// Circuits and their canonical texts do the same to a memory: random ones, run by a small
// interpreter that knows nothing of the canonicaliser.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "graph/circuit/canonical.h"
#include "graph/circuit/parser.h"
#include "graph/circuit/print.h"
#include "graph/circuit/random_circuit_testing.h"

namespace hoist::graph::circuit {
namespace {

// Few pages of few bytes stand for the 48 of 256.
constexpr int kPages = kRandomPages;
using Page = std::array<uint8_t, 4>;
using Class = std::array<Page, kPages>;
using Memory = std::array<Class, kByteClasses>;

// What an operand without a page means beside one that has one is not said: both readings must do.
enum class Reading { the_same_page, page_0 };

// marks, quotes and evaluations change their class, each in its own way, and no two of them cancel
// out; all are remembered in their order, too.
class Interpreter {
 public:
  Interpreter(uint64_t seed, Reading reading) : reading_(reading) {
    std::mt19937_64 random(seed);
    for (Class& bytes : memory_) {
      for (Page& page : bytes) {
        for (uint8_t& byte : page) byte = static_cast<uint8_t>(random());
      }
    }
  }

  void run(const Parallel& parallel, const Transform& around = {}) {
    for (const Sequence& branch : parallel.branches) {
      for (const Term& term : branch.terms) run(term, around);
    }
  }

  const Memory& memory() const { return memory_; }

 private:
  void run(const Term& term, const Transform& around) {
    if (term.kind != Term::Kind::operation) {
      return run(term.body.front(), compose(term.transform, around));
    }
    const Operation& operation = term.operation;
    const Sigil& first = operation.operands.front();
    for (int index = first.first; index <= first.last; ++index) {
      std::vector<int> classes = {
          apply(compose(first.transform(), around), static_cast<uint8_t>(index))};
      for (size_t i = 1; i < operation.operands.size(); ++i) {
        const Sigil& sigil = operation.operands[i];
        classes.push_back(apply(compose(sigil.transform(), around), sigil.first));
      }
      // A merge over a range adds each class to itself.
      const bool is_sum = operation.generator == Generator::merge && classes.size() == 1;
      if (is_sum) classes.assign(3, classes[0]);
      run(operation, classes);
    }
  }

  void run(const Operation& operation, const std::vector<int>& classes) {
    std::optional<int> page;
    for (const Sigil& sigil : operation.operands) {
      if (!page && sigil.page) page = *sigil.page;
    }
    if (!page) {
      for (int each = 0; each < kPages; ++each)
        act(operation.generator, classes, {each, each, each});
      return;
    }
    std::array<int, 3> pages{};
    for (size_t i = 0; i < classes.size(); ++i) {
      const auto& own = operation.operands[i].page;
      pages[i] = own ? *own : reading_ == Reading::page_0 ? 0 : *page;
    }
    act(operation.generator, classes, pages);
  }

  void act(Generator generator, const std::vector<int>& classes, std::array<int, 3> pages) {
    const auto at = [&](int i) -> Page& { return memory_[classes[i]][pages[i]]; };
    switch (generator) {
      case Generator::copy:
        at(1) = Page(at(0));
        return;
      case Generator::swap:
        return std::swap(at(0), at(1));
      case Generator::merge:
      case Generator::split: {
        Page result{};
        for (size_t i = 0; i < result.size(); ++i) {
          const int by = generator == Generator::merge ? at(1)[i] : -at(1)[i];
          result[i] = static_cast<uint8_t>(at(0)[i] + by);
        }
        at(2) = result;
        return;
      }
      default:
        for (uint8_t& byte : at(0)) {
          byte = static_cast<uint8_t>(byte * 5 + 17 + 2 * static_cast<int>(generator));
        }
    }
  }

  Reading reading_;
  Memory memory_;
};

// Those that the marks and copies of gates would write.
void collect_gates(const Parallel& parallel, std::set<int>& classes) {
  for (const Sequence& branch : parallel.branches) {
    for (const Term& term : branch.terms) {
      if (term.kind == Term::Kind::group) collect_gates(term.body.front(), classes);
      if (term.kind != Term::Kind::operation) continue;
      const auto& operands = term.operation.operands;
      const uint8_t first = operands.front().first;
      const bool is_copy = term.operation.generator == Generator::copy && first == 5;
      const bool is_mark = term.operation.generator == Generator::mark &&
                           (first == 0 || first == 7 || first == 21 || first == 42);
      if (is_copy) classes.insert(operands[1].first);
      if (is_mark) classes.insert(first);
    }
  }
}

// Whether classes 0 to 95 but `but` hold the same after both, from several memories.
void expect_same_effect(const Phrase& one, const Phrase& other, const std::set<int>& but) {
  for (const Reading reading : {Reading::the_same_page, Reading::page_0}) {
    for (const uint64_t seed : {1, 2}) {
      Interpreter first(seed, reading);
      Interpreter second(seed, reading);
      first.run(one);
      second.run(other);
      for (int index = 0; index < kByteClasses; ++index) {
        if (but.contains(index)) continue;
        ASSERT_EQ(first.memory()[index], second.memory()[index])
            << print(one) << "\n  became\n"
            << print(other) << "\n  class " << index;
      }
    }
  }
}

void expect_canonical(const Canonical& canonical, const CanonicalOptions& options) {
  const Phrase again = parse(canonical.text, options.grammar).value();
  ASSERT_TRUE(again == canonical.phrase) << canonical.text;
  const Canonical twice = canonicalize(again, options);
  ASSERT_EQ(twice.text, canonical.text);
  ASSERT_EQ(twice.before, canonical.after);
}

TEST(Effects, WithoutGatesAreKept) {
  std::mt19937_64 random(test_seed());
  int shortened = 0;
  for (int i = 0; i < 8000; ++i) {
    const Phrase phrase = RandomCircuit(random).phrase(i % 2 == 0);
    const CanonicalOptions options{.gates = false};
    const Canonical canonical = canonicalize(phrase, options);
    ASSERT_NO_FATAL_FAILURE(expect_canonical(canonical, options));
    ASSERT_NO_FATAL_FAILURE(expect_same_effect(phrase, canonical.phrase, {}));
    shortened += canonical.after < canonical.before;
  }
  EXPECT_GT(shortened, 400);
}

// Gates write only what nothing reads: all other classes hold the same. Runs everything as memory.
TEST(Effects, WithGatesAreKeptWhereAnythingIsRead) {
  std::mt19937_64 random(test_seed());
  int with_gates = 0;
  for (int i = 0; i < 8000; ++i) {
    const Phrase phrase = RandomCircuit(random).phrase(true);
    const Canonical canonical = canonicalize(phrase, {});
    ASSERT_NO_FATAL_FAILURE(expect_canonical(canonical, {}));
    std::set<int> of_gates;
    collect_gates(phrase, of_gates);
    collect_gates(canonical.phrase, of_gates);
    ASSERT_NO_FATAL_FAILURE(expect_same_effect(phrase, canonical.phrase, of_gates));
    with_gates += !canonical.rules.empty() && !of_gates.empty();
  }
  EXPECT_GT(with_gates, 400);
}

// What may stand behind it reads whatever class it likes: where it reads what a gate would write,
// that is no gate, so that a reader of any class finds there what it found before.
TEST(Effects, AReaderBehindFindsTheSame) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 3000; ++i) {
    Phrase phrase;
    Term term(Term::Kind::group);
    term.body.push_back(RandomCircuit(random).phrase(true));
    if (term.body.front().branches.front().terms.front().kind == Term::Kind::transformed) continue;
    Sequence& sequence = phrase.branches.emplace_back();
    sequence.terms.push_back(std::move(term));
    for (const uint8_t index : {0, 1, 2, 3, 6, 7, 8, 21, 42}) {
      Term reader;
      reader.operation = {Generator::copy,
                          {{.first = index, .last = index}, {.first = 90, .last = 90}}};
      sequence.terms.push_back(reader);
      reader.operation = {
          Generator::merge,
          {{.first = 90, .last = 90}, {.first = 91, .last = 91}, {.first = 91, .last = 91}}};
      sequence.terms.push_back(reader);
    }
    const Canonical canonical = canonicalize(phrase, {});
    ASSERT_NO_FATAL_FAILURE(expect_same_effect(phrase, canonical.phrase, {}));
  }
}

}  // namespace
}  // namespace hoist::graph::circuit
