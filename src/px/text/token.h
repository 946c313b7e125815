// A px text cut into tokens.
//
//   const std::vector<Token> tokens = tokenize(source, diagnostics);
#pragma once

#include <string_view>
#include <vector>

#include "px/text/diagnostic.h"
#include "px/text/source.h"

namespace hoist::px {

enum class TokenKind : uint8_t {
  end_of_file,
  end_of_line,
  comment,  // from # to the end of the line
  word,     // a name, or a word of the language
  integer,
  real,
  arrow,  // → or ->
  left_parenthesis,
  right_parenthesis,
  left_bracket,
  right_bracket,
  comma,
  colon,
  assign,
  plus,
  minus,
  times,
  divide,
  modulo,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
};

struct Token {
  TokenKind kind = TokenKind::end_of_file;
  Span span;
  std::string_view text;  // of the source, which must live longer
};

// The last token is end_of_file, with an end_of_line before it. A line that ends in a comma, =, an
// opening bracket or an operator goes on: there is no end_of_line behind it. Characters that mean
// nothing are reported and left out.
std::vector<Token> tokenize(const Source& source, Diagnostics& diagnostics);

}  // namespace hoist::px
