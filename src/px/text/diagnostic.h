// What is wrong, or doubtful, in a px file: the one format of errors and warnings.
//
//   k.px:4:9: error: no name tdi
//       ADD tdi 1 → x
//           ^~~
//   mend: is it tid?
#pragma once

#include <string>
#include <vector>

#include "px/text/source.h"

namespace hoist::px {

enum class Severity : uint8_t { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  Span span;
  std::string what;
  std::string mend;  // what the author can do; never empty
};

// Collects what one run over a file finds. One place is reported once, and after kMostErrors the
// rest is only counted: the first errors are those to mend.
class Diagnostics {
 public:
  static constexpr size_t kMostErrors = 20;
  static constexpr size_t kMostWarnings = 100;  // those behind are dropped

  void error(Span span, std::string what, std::string mend);
  void warn(Span span, std::string what, std::string mend);

  // The warnings of a file with errors may be wrong: a line that was left out may use the name.
  void drop_warnings();

  bool has_errors() const { return errors_ > 0; }
  // All errors, those that were only counted too.
  size_t errors() const { return errors_; }
  // Further errors are only counted: what they say need not be made.
  bool is_full() const { return errors_ >= kMostErrors; }
  // In the order of the file.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> list_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

// One diagnostic with its line, caret and mend, each line ended.
std::string render(const Source& source, const Diagnostic& diagnostic);
// All of them; a last line says how many more errors there are.
std::string render(const Source& source, const Diagnostics& diagnostics);

}  // namespace hoist::px
