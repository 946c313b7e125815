#include "graph/circuit/print.h"

#include <fmt/format.h>

#include <iterator>

namespace hoist::graph::circuit {
namespace {

class Printer {
 public:
  std::string run(const Phrase& phrase) {
    add(phrase);
    return std::move(text_);
  }
  std::string run(const Operation& operation) {
    add(operation);
    return std::move(text_);
  }

 private:
  void add(std::string_view text) { text_ += text; }

  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void add(const Parallel& parallel) {
    const char* between = "";
    for (const Sequence& branch : parallel.branches) {
      add(std::string_view(between));
      add(branch);
      between = " || ";
    }
  }

  void add(const Sequence& sequence) {
    const char* between = "";
    for (const Term& term : sequence.terms) {
      add(std::string_view(between));
      add(term);
      between = " . ";
    }
  }

  void add(const Term& term) {
    switch (term.kind) {
      case Term::Kind::operation:
        return add(term.operation);
      case Term::Kind::group:
        add(std::string_view("("));
        add(term.body.front());
        return add(std::string_view(")"));
      case Term::Kind::transformed:
        add(term.transform);
        add(std::string_view("@ "));
        return add(term.body.front());
    }
  }

  // A transform of nothing still needs a letter.
  void add(const Transform& transform) {
    std::string parts;
    const auto part = [&](char letter, int64_t amount) {
      if (amount != 0) parts += fmt::format("{}{}{:+}", parts.empty() ? "" : " ", letter, amount);
    };
    part('R', transform.rotate);
    part('D', transform.triality);
    part('T', transform.twist);
    if (transform.mirror) parts += parts.empty() ? "~" : " ~";
    add(std::string_view(parts.empty() ? "R+0" : parts));
  }

  void add(const Operation& operation) {
    add("{}@", name(operation.generator));
    const auto& operands = operation.operands;
    add(operands[0]);
    if (operands.size() == 2) {
      add(std::string_view(operation.generator == Generator::copy ? "->" : "<->"));
      add(operands[1]);
    } else if (operands.size() == 3) {
      add(std::string_view("["));
      add(operands[1]);
      add(std::string_view(","));
      add(operands[2]);
      add(std::string_view("]"));
    }
  }

  void add(const Sigil& sigil) {
    if (sigil.is_range()) {
      add("c[{}..{}]", sigil.first, sigil.last);
    } else {
      add("c{:02}", sigil.first);
    }
    if (sigil.shift == 'T') {
      add("^{:+}", sigil.amount);
    } else if (sigil.shift != 0) {
      add("^{}{:+}", sigil.shift, sigil.amount);
    }
    if (sigil.mirror) add(std::string_view("~"));
    if (sigil.page) add("@{}", *sigil.page);
  }

  std::string text_;
};

}  // namespace

std::string print(const Phrase& phrase) { return Printer().run(phrase); }
std::string print(const Operation& operation) { return Printer().run(operation); }

}  // namespace hoist::graph::circuit
