// The words, numbers and signs of a circuit. Spaces, ends of lines and // comments part them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "px/text/diagnostic.h"

namespace hoist::graph::circuit {

enum class TokenKind : uint8_t {
  class_name,    // c42; `value` is 42
  class_letter,  // c alone, before a range
  word,          // mark
  number,
  shift,  // R, D or T
  parallel,
  dot,
  dots,
  open,
  close,
  open_bracket,
  close_bracket,
  comma,
  at,
  caret,
  tilde,
  plus,
  minus,
  arrow,       // ->
  both_arrow,  // <->
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  px::Span span;
  int64_t value = 0;  // of a class and a number; kTooLarge where it is that or larger
};

inline constexpr int64_t kTooLarge = 1'000'000'000;

// The last one is `end`. What is no token is reported and left out.
std::vector<Token> tokenize(const px::Source& source, px::Diagnostics& diagnostics);

}  // namespace hoist::graph::circuit
