#include "graph/circuit/token_reader.h"

#include <fmt/core.h>

#include <utility>

namespace hoist::graph::circuit {

TokenReader::TokenReader(std::vector<Token> tokens, px::Diagnostics& diagnostics)
    : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

bool TokenReader::is_next(TokenKind kind) const {
  return at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == kind;
}

Token TokenReader::take() {
  const Token token = now();
  if (token.kind != TokenKind::end) ++at_;
  return token;
}

bool TokenReader::take_if(TokenKind kind) {
  if (!is(kind)) return false;
  take();
  return true;
}

bool TokenReader::expect(TokenKind kind, std::string_view what, std::string mend) {
  if (take_if(kind)) return true;
  error_here(what, std::move(mend));
  return false;
}

void TokenReader::error(px::Span span, std::string what, std::string mend) {
  if (!std::exchange(has_failed_, true)) {
    diagnostics_.error(span, std::move(what), std::move(mend));
  }
}

void TokenReader::error_here(std::string_view what, std::string mend) {
  const std::string_view found = now().text.substr(0, 40);
  const std::string_view shown = is(TokenKind::end) ? "the end" : found;
  error(now().span, fmt::format("{} where {} belongs", shown, what), std::move(mend));
}

}  // namespace hoist::graph::circuit
