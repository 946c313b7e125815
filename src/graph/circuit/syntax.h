// A circuit as it was written.
//
//   phrase    par
//   par       seq { "||" seq }
//   seq       term { "." term }
//   term      operation | "(" par ")" | transform "@" par
//   operation generator "@" classes
//
// docs/reference/graph-circuits.md has the grammars to the letter. What a class or a transform
// means is in graph/classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/classes/transform.h"

namespace hoist::graph::circuit {

// `compiler`: copy, swap, merge and split name all their classes, and there are ranges of classes.
// `spec`: each generator names one class, and transforms may stand before any term.
enum class Grammar : uint8_t { compiler, spec };
std::string_view name(Grammar grammar);
std::optional<Grammar> find_grammar(std::string_view name);

enum class Generator : uint8_t { mark, copy, swap, merge, split, quote, evaluate };
inline constexpr int kGenerators = 7;
std::string_view name(Generator generator);
std::optional<Generator> find_generator(std::string_view name);

// How many classes it names: more than one only in the compiler's grammar.
size_t operands_of(Generator generator, Grammar grammar);
// Whether it can name a range: in the compiler's grammar, and what needs no second class.
bool takes_range(Generator generator);

// c21, c42^+3~@17 or c[0..9]^+1: what an operation names.
struct Sigil {
  uint8_t first = 0;
  uint8_t last = 0;     // of a range; `first` of a single class
  char shift = 0;       // behind ^: 'R', 'D' or 'T', which ^+3 stands for; 0: there is none
  int64_t amount = 0;   // of the shift
  bool mirror = false;  // ~
  std::optional<uint8_t> page = {};

  bool is_range() const { return first != last; }
  // Nothing but the number of a class.
  bool is_plain() const { return !is_range() && shift == 0 && !mirror && !page; }
  Transform transform() const;

  friend bool operator==(const Sigil&, const Sigil&) = default;
};

struct Operation {
  Generator generator = Generator::mark;
  // copy: source, destination; swap: both; merge and split: first, context, destination
  std::vector<Sigil> operands = {};

  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Parallel;

struct Term {
  enum class Kind : uint8_t { operation, group, transformed };

  Term();
  explicit Term(Kind of);

  Kind kind = Kind::operation;
  Operation operation;
  Transform transform;         // of a transformed one
  std::vector<Parallel> body;  // one, of what is no operation
};

struct Sequence {
  std::vector<Term> terms;
};

struct Parallel {
  std::vector<Sequence> branches;
};

using Phrase = Parallel;

bool operator==(const Term& a, const Term& b);
bool operator==(const Sequence& a, const Sequence& b);
bool operator==(const Parallel& a, const Parallel& b);

// How many operations it has; those in parentheses count, a range counts as one.
size_t count_operations(const Phrase& phrase);

}  // namespace hoist::graph::circuit
