#include "px/syntax/parser.h"

#include <fmt/format.h>

#include <utility>

#include "px/syntax/block_parser.h"
#include "px/syntax/declaration_parser.h"
#include "px/syntax/token_reader.h"

namespace hoist::px {
namespace {

using syntax::File;

// What stands outside of kernels and functions; a line that cannot stand there is reported.
void parse_item(TokenReader& tokens, File& file) {
  const Token first = tokens.now();
  const std::optional<Word> word =
      first.kind == TokenKind::word ? find_word(first.text) : std::nullopt;
  if (word == Word::GPU_KERNEL) {
    if (auto kernel = parse_kernel(tokens)) file.kernels.push_back(std::move(*kernel));
  } else if (word == Word::FUNC) {
    if (auto function = parse_function(tokens)) file.functions.push_back(std::move(*function));
  } else if (word == Word::CONST) {
    if (auto constant = parse_constant(tokens)) file.constants.push_back(std::move(*constant));
  } else {
    BlockParser(tokens, BlockParser::Place::file).statement_into(file.host);
  }
}

}  // namespace

File parse(const Source& source, Diagnostics& diagnostics) {
  TokenReader tokens(source, diagnostics);
  File file;
  while (!tokens.is(TokenKind::end_of_file)) {
    if (tokens.take_if(TokenKind::end_of_line)) continue;
    parse_item(tokens, file);
  }
  return file;
}

}  // namespace hoist::px
