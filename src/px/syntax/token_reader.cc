#include "px/syntax/token_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "px/text/keywords.h"

namespace hoist::px {

TokenReader::TokenReader(const Source& source, Diagnostics& diagnostics)
    : source_(source), diagnostics_(diagnostics), tokens_(tokenize(source, diagnostics)) {
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    lines_with_errors_.insert(position(diagnostic.span.begin).line);
  }
  std::erase_if(tokens_, [](const Token& token) { return token.kind == TokenKind::comment; });
}

const Token& TokenReader::ahead(size_t count) const {
  return tokens_[std::min(at_ + count, tokens_.size() - 1)];
}

bool TokenReader::is_word(std::string_view text) const {
  return is(TokenKind::word) && upper_case(now().text) == text;
}

bool TokenReader::at_end_of_line() const {
  return is(TokenKind::end_of_line) || is(TokenKind::end_of_file);
}

Token TokenReader::take() {
  last_ = now().span;
  const Token taken = now();
  if (at_ + 1 < tokens_.size()) ++at_;
  return taken;
}

bool TokenReader::take_if(TokenKind kind) {
  if (!is(kind)) return false;
  take();
  return true;
}

bool TokenReader::take_if_word(std::string_view text) {
  if (!is_word(text)) return false;
  take();
  return true;
}

void TokenReader::skip_line() {
  while (!at_end_of_line()) take();
  take_if(TokenKind::end_of_line);
}

bool TokenReader::comes_before(std::string_view word, std::string_view stop) const {
  if (answer_.word == word && at_ < answer_.until) return answer_.comes;
  answer_ = {std::string(word), tokens_.size(), false};
  for (size_t i = at_ + 1; i < tokens_.size(); ++i) {
    if (tokens_[i].kind != TokenKind::word || tokens_[i - 1].kind != TokenKind::end_of_line) {
      continue;
    }
    const std::string first = upper_case(tokens_[i].text);
    if (first != stop && first != word) continue;
    answer_.until = i;
    answer_.comes = first == word;
    break;
  }
  return answer_.comes;
}

void TokenReader::error(Span span, std::string what, std::string mend) {
  if (!lines_with_errors_.insert(position(span.begin).line).second) return;
  diagnostics_.error(span, std::move(what), std::move(mend));
}

void TokenReader::error_here(std::string_view what_belongs, std::string mend) {
  error(now().span,
        at_end_of_line() ? fmt::format("the line ends where {} belongs", what_belongs)
                         : fmt::format("{} stands where {} belongs", now().text, what_belongs),
        std::move(mend));
}

}  // namespace hoist::px
