// Walks over the tokens of a file, without its comments; what the parser's parts share.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "px/syntax/syntax.h"
#include "px/text/diagnostic.h"
#include "px/text/token.h"

namespace hoist::px {

class TokenReader {
 public:
  TokenReader(const Source& source, Diagnostics& diagnostics);

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(size_t count = 1) const;
  bool is(TokenKind kind) const { return now().kind == kind; }
  // The word in upper case is `text`.
  bool is_word(std::string_view text) const;
  bool at_end_of_line() const;
  Position position(uint32_t offset) const { return source_.position(offset); }
  // The last token that was taken.
  Span last() const { return last_; }

  Token take();
  bool take_if(TokenKind kind);
  bool take_if_word(std::string_view text);
  // Whether a later line begins with `word` before one begins with `stop`. Both in upper case.
  bool comes_before(std::string_view word, std::string_view stop) const;
  // Behind the end of the line.
  void skip_line();

  // The first of a line alone: those behind it may come from it.
  void error(Span span, std::string what, std::string mend);
  void warn(Span span, std::string what, std::string mend) {
    diagnostics_.warn(span, std::move(what), std::move(mend));
  }
  // "NUMBER where WHAT belongs".
  void error_here(std::string_view what_belongs, std::string mend);

 private:
  const Source& source_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  Span last_;
  std::set<uint32_t> lines_with_errors_;
  // The last answer of comes_before(), which holds up to that token.
  struct Answer {
    std::string word;
    size_t until = 0;
    bool comes = false;
  };
  mutable Answer answer_;
};

}  // namespace hoist::px
