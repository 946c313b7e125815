#include "px/syntax/declaration_parser.h"

#include <fmt/format.h>

#include <utility>

#include "px/syntax/block_parser.h"
#include "px/syntax/expression_parser.h"
#include "px/text/keywords.h"

namespace hoist::px {
namespace {

using syntax::Direction;
using syntax::ExpressionPointer;
using syntax::Name;
using syntax::Parameter;
using syntax::TypeName;

std::string mend(std::string_view form) { return fmt::format("write {}", form); }

std::optional<Direction> direction_of(const Token& token) {
  if (token.text == "in") return Direction::in;
  if (token.text == "out") return Direction::out;
  if (token.text == "inout") return Direction::inout;
  return std::nullopt;
}

// name [in|out|inout] type
std::optional<Parameter> parse_parameter(TokenReader& tokens, std::string_view form) {
  Parameter parameter;
  auto name = parse_new_name(tokens, form);
  if (!name) return std::nullopt;
  parameter.name = std::move(*name);
  if (const auto direction = direction_of(tokens.now())) {
    parameter.direction = *direction;
    parameter.has_direction = true;
    tokens.take();
  }
  auto type = parse_type(tokens, form);
  if (!type) return std::nullopt;
  parameter.type = std::move(*type);
  return parameter;
}

bool is_kernel_word(const TokenReader& tokens, Word word) {
  return tokens.is(TokenKind::word) && find_word(tokens.now().text) == word;
}

void parse_kernel_parameter(TokenReader& tokens, syntax::Kernel& kernel) {
  const std::string_view form = properties(Word::GPU_PARAM).form;
  tokens.take();
  auto parameter = parse_parameter(tokens, form);
  if (!parameter) return tokens.skip_line();
  kernel.parameters.push_back(std::move(*parameter));
  end_statement(tokens, form);
}

// name type count
void parse_shared(TokenReader& tokens, syntax::Kernel& kernel) {
  const std::string_view form = properties(Word::GPU_SHARED).form;
  tokens.take();
  auto name = parse_new_name(tokens, form);
  if (!name) return tokens.skip_line();
  auto type = parse_type(tokens, form);
  if (!type) return tokens.skip_line();
  ExpressionPointer count = parse_expression(tokens);
  if (count == nullptr) return tokens.skip_line();
  if (end_statement(tokens, form)) {
    kernel.shared.push_back({std::move(*name), std::move(*type), std::move(count)});
  }
}

// What stands before the code.
void parse_kernel_head(TokenReader& tokens, syntax::Kernel& kernel) {
  for (;;) {
    if (tokens.take_if(TokenKind::end_of_line)) continue;
    if (is_kernel_word(tokens, Word::GPU_PARAM)) {
      parse_kernel_parameter(tokens, kernel);
    } else if (is_kernel_word(tokens, Word::GPU_SHARED)) {
      parse_shared(tokens, kernel);
    } else {
      break;
    }
  }
  if (!is_kernel_word(tokens, Word::GPU_THREAD_CODE)) return;
  tokens.take();
  if (!tokens.take_if(TokenKind::colon)) {
    tokens.error_here("a colon", mend(properties(Word::GPU_THREAD_CODE).form));
    return tokens.skip_line();
  }
  end_statement(tokens, properties(Word::GPU_THREAD_CODE).form);
}

// Words behind a kernel's name, which older compilers passed over.
void skip_attributes(TokenReader& tokens) {
  while (tokens.is(TokenKind::word)) {
    const Token word = tokens.take();
    tokens.warn(word.span, fmt::format("{} behind a kernel's name has no effect", word.text),
                "leave it out");
  }
}

// (a type, b type) → type:
bool parse_signature(TokenReader& tokens, syntax::Function& function, std::string_view form) {
  if (!tokens.take_if(TokenKind::left_parenthesis)) {
    tokens.error_here("(", mend(form));
    return false;
  }
  if (!tokens.is(TokenKind::right_parenthesis)) {
    do {
      auto parameter = parse_parameter(tokens, form);
      if (!parameter) return false;
      function.parameters.push_back(std::move(*parameter));
    } while (tokens.take_if(TokenKind::comma));
  }
  if (!tokens.take_if(TokenKind::right_parenthesis)) {
    tokens.error_here(")", mend(form));
    return false;
  }
  if (!tokens.take_if(TokenKind::arrow)) {
    tokens.error_here("→ and the type of the result", mend(form));
    return false;
  }
  auto type = parse_type(tokens, form);
  if (!type) return false;
  function.result = std::move(*type);
  if (tokens.take_if(TokenKind::colon)) return true;
  tokens.error_here("a colon", mend(form));
  return false;
}

}  // namespace

std::optional<Name> parse_new_name(TokenReader& tokens, std::string_view form) {
  const Token token = tokens.now();
  if (token.kind != TokenKind::word) {
    tokens.error_here("a name", mend(form));
    return std::nullopt;
  }
  const bool is_word = find_word(token.text) || is_operator_word(token.text);
  if (is_word || token.text == "true" || token.text == "false") {
    tokens.error(token.span, fmt::format("{} is a word of the language, and no name", token.text),
                 fmt::format("choose another name: {}_value, say", token.text));
    return std::nullopt;
  }
  tokens.take();
  return Name{std::string(token.text), token.span};
}

std::optional<TypeName> parse_type(TokenReader& tokens, std::string_view form) {
  const Token token = tokens.now();
  if (token.kind != TokenKind::word) {
    tokens.error_here("a type", mend(form));
    return std::nullopt;
  }
  tokens.take();
  TypeName type{std::string(token.text), false, token.span};
  if (tokens.take_if(TokenKind::times)) {
    type.is_array = true;
  } else if (tokens.is(TokenKind::left_bracket) &&
             tokens.ahead().kind == TokenKind::right_bracket) {
    tokens.take();
    tokens.take();
    type.is_array = true;
  }
  type.span = join(token.span, tokens.last());
  return type;
}

bool end_statement(TokenReader& tokens, std::string_view form) {
  if (!tokens.at_end_of_line()) {
    tokens.error(tokens.now().span, fmt::format("{} is too much on this line", tokens.now().text),
                 mend(form));
    tokens.skip_line();
    return false;
  }
  tokens.take_if(TokenKind::end_of_line);
  return true;
}

std::optional<syntax::Kernel> parse_kernel(TokenReader& tokens) {
  const std::string_view form = properties(Word::GPU_KERNEL).form;
  const Span opening = tokens.take().span;
  syntax::Kernel kernel;
  auto name = parse_new_name(tokens, form);
  const bool is_whole = name.has_value();
  if (is_whole) {
    kernel.name = std::move(*name);
    skip_attributes(tokens);
    end_statement(tokens, form);
  } else {
    tokens.skip_line();
  }
  parse_kernel_head(tokens, kernel);
  BlockParser(tokens, BlockParser::Place::kernel).block_into(kernel.body, opening);
  if (!is_whole) return std::nullopt;
  return kernel;
}

std::optional<syntax::Function> parse_function(TokenReader& tokens) {
  const std::string_view form = properties(Word::FUNC).form;
  const Span opening = tokens.take().span;
  syntax::Function function;
  auto name = parse_new_name(tokens, form);
  bool is_whole = name.has_value();
  if (is_whole) {
    function.name = std::move(*name);
    is_whole = parse_signature(tokens, function, form);
  }
  if (is_whole) {
    end_statement(tokens, form);
  } else {
    tokens.skip_line();
  }
  BlockParser(tokens, BlockParser::Place::function).block_into(function.body, opening);
  if (!is_whole) return std::nullopt;
  return function;
}

std::optional<syntax::Constant> parse_constant(TokenReader& tokens) {
  const std::string_view form = properties(Word::CONST).form;
  tokens.take();
  syntax::Constant constant;
  const auto refuse = [&]() -> std::optional<syntax::Constant> {
    tokens.skip_line();
    return std::nullopt;
  };
  auto name = parse_new_name(tokens, form);
  if (!name) return refuse();
  constant.name = std::move(*name);
  auto type = parse_type(tokens, form);
  if (!type) return refuse();
  constant.type = std::move(*type);
  if (tokens.take_if(TokenKind::left_bracket)) {
    constant.count = parse_expression(tokens);
    if (constant.count == nullptr) return refuse();
    if (!tokens.take_if(TokenKind::right_bracket)) {
      tokens.error_here("]", mend(form));
      return refuse();
    }
  }
  if (!tokens.take_if(TokenKind::assign)) {
    tokens.error_here("=", mend(form));
    return refuse();
  }
  do {
    ExpressionPointer value = parse_expression(tokens);
    if (value == nullptr) return refuse();
    constant.values.push_back(std::move(value));
  } while (tokens.take_if(TokenKind::comma));
  if (!end_statement(tokens, form)) return std::nullopt;
  return constant;
}

}  // namespace hoist::px
