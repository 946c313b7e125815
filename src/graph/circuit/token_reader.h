// Walks over the tokens of a circuit, and says what is wrong: only the first error, since those
// behind it may come from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/circuit/token.h"

namespace hoist::graph::circuit {

class TokenReader {
 public:
  TokenReader(std::vector<Token> tokens, px::Diagnostics& diagnostics);

  const Token& now() const { return tokens_[at_]; }
  bool is(TokenKind kind) const { return now().kind == kind; }
  bool is_next(TokenKind kind) const;
  // The end is never passed.
  Token take();
  bool take_if(TokenKind kind);
  // Whether it was there; else "… where WHAT belongs" has been said.
  bool expect(TokenKind kind, std::string_view what, std::string mend);

  bool has_failed() const { return has_failed_; }
  void error(px::Span span, std::string what, std::string mend);
  // "… where WHAT belongs".
  void error_here(std::string_view what, std::string mend);

 private:
  std::vector<Token> tokens_;
  px::Diagnostics& diagnostics_;
  size_t at_ = 0;
  bool has_failed_ = false;
};

}  // namespace hoist::graph::circuit
