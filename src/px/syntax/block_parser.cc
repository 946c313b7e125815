#include "px/syntax/block_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "px/syntax/declaration_parser.h"

namespace hoist::px {
namespace {

using syntax::Statement;

// The word that ends the block which `opening` begins.
Word end_of(Word opening) {
  switch (opening) {
    case Word::IF:
      return Word::ENDIF;
    case Word::FOR:
      return Word::ENDFOR;
    case Word::WHILE:
      return Word::ENDWHILE;
    case Word::FUNC:
      return Word::ENDFUNC;
    default:
      return Word::GPU_END;
  }
}

bool is_end(Word word) {
  return word == Word::ENDIF || word == Word::ENDFOR || word == Word::ENDWHILE ||
         word == Word::ENDFUNC || word == Word::GPU_END;
}

Word opening_of(Word end) {
  for (const Word opening : {Word::IF, Word::FOR, Word::WHILE, Word::FUNC}) {
    if (end_of(opening) == end) return opening;
  }
  return Word::GPU_KERNEL;
}

bool begins_item(Word word) {
  return word == Word::GPU_KERNEL || word == Word::FUNC || word == Word::GPU_LAUNCH;
}

// Blocks in blocks: more are refused, so that recursion over them is bounded.
constexpr size_t kMostBlocks = 100;

}  // namespace

void BlockParser::block_into(std::vector<Statement>& block, Span opening) {
  statements_into(block, {place_ == Place::kernel ? Word::GPU_KERNEL : Word::FUNC, opening});
}

BlockParser::End BlockParser::statements_into(std::vector<Statement>& block, Open opening) {
  open_.push_back(opening);
  std::optional<End> end;
  while (!end) {
    if (tokens_.take_if(TokenKind::end_of_line)) continue;
    if (tokens_.is(TokenKind::end_of_file)) {
      report_missing_end(opening);
      end = End::missing;
      break;
    }
    const std::optional<Word> word =
        tokens_.is(TokenKind::word) ? find_word(tokens_.now().text) : std::nullopt;
    if (word) end = end_at(*word, opening);
    if (!end) statement_into(block);
  }
  open_.pop_back();
  return *end;
}

// Whether `word`, the next one, ends the block that was opened last.
std::optional<BlockParser::End> BlockParser::end_at(Word word, Open opening) {
  if (word == end_of(opening.word)) {
    tokens_.take();
    end_statement(tokens_, properties(word).form);
    return End::closed;
  }
  if (word == Word::ELSE && opening.word == Word::IF) {
    tokens_.take();
    return End::otherwise;
  }
  const bool ends_outer =
      is_end(word) && std::any_of(open_.begin(), open_.end(),
                                  [&](const Open& outer) { return end_of(outer.word) == word; });
  if (!ends_outer && !begins_item(word)) return std::nullopt;
  // A launch in a kernel that is closed behind it is in the wrong place.
  const std::string_view own_end = properties(end_of(open_.front().word)).name;
  if (word == Word::GPU_LAUNCH && tokens_.comes_before(own_end, "GPU_KERNEL")) return std::nullopt;
  report_missing_end(opening);
  return End::missing;
}

void BlockParser::report_missing_end(Open opening) {
  const std::string_view end = properties(end_of(opening.word)).name;
  tokens_.error(opening.span,
                fmt::format("the {} of this line has no {}", properties(opening.word).name, end),
                fmt::format("write {} behind the block, before line {}", end,
                            tokens_.position(tokens_.now().span.begin).line +
                                (tokens_.is(TokenKind::end_of_file) ? 1 : 0)));
}

void BlockParser::statement_into(std::vector<Statement>& block) {
  const TokenKind next = tokens_.ahead().kind;
  if (tokens_.is(TokenKind::word) &&
      (next == TokenKind::assign || next == TokenKind::left_bracket)) {
    if (place_ == Place::file) return refuse_assignment();
    Statement statement;
    statement.kind = syntax::StatementKind::assign;
    statement.span = statement.word_span = tokens_.now().span;
    if (assignment(statement)) block.push_back(std::move(statement));
    return;
  }
  if (const std::optional<Word> word = known_word()) {
    word_into(block, *word);
  } else {
    tokens_.skip_line();
  }
}

void BlockParser::refuse_assignment() {
  tokens_.error(tokens_.now().span, "an assignment outside of a kernel",
                "put it between GPU_KERNEL and GPU_END, or write CONST name type = value");
  tokens_.skip_line();
}

// The word that the line begins with, where it may stand here; else it has been reported.
std::optional<Word> BlockParser::known_word() {
  if (!tokens_.is(TokenKind::word)) {
    tokens_.error_here("the first word of a statement",
                       "begin the line with a word: LOAD, STORE, IF, …");
    return std::nullopt;
  }
  const std::string_view text = tokens_.now().text;
  const std::optional<Word> word = find_word(text);
  if (!word) {
    tokens_.error(tokens_.now().span, fmt::format("no word {}", text), mend_of_unknown_word(text));
    return std::nullopt;
  }
  if (!may_stand_here(*word)) return std::nullopt;
  return word;
}

bool BlockParser::may_stand_here(Word word) {
  const Span span = tokens_.now().span;
  const std::string_view name = properties(word).name;
  if (is_end(word) || word == Word::ELSE) {
    const std::string_view opening = word == Word::ELSE ? "IF" : properties(opening_of(word)).name;
    tokens_.error(span, fmt::format("{} without {}", name, opening),
                  fmt::format("leave it out, or begin the block with {}", opening));
    return false;
  }
  const bool is_host_loop = place_ == Place::file && word == Word::FOR;
  const WordPlace at = properties(word).place;
  if (place_ == Place::file ? at == WordPlace::file || is_host_loop : at == WordPlace::code) {
    return true;
  }
  if (at == WordPlace::kernel && place_ == Place::kernel) {
    tokens_.error(span, fmt::format("{} stands behind the kernel's first statement", name),
                  "put it before the code, right behind GPU_KERNEL");
  } else if (place_ == Place::file) {
    tokens_.error(span, fmt::format("{} stands outside of a kernel", name),
                  "put it between GPU_KERNEL and GPU_END");
  } else {
    tokens_.error(
        span,
        fmt::format("{} stands inside of a {}", name,
                    place_ == Place::kernel ? "kernel" : "function"),
        fmt::format("put it outside, behind {}", place_ == Place::kernel ? "GPU_END" : "ENDFUNC"));
  }
  return false;
}

bool BlockParser::is_nested_too_deep() {
  if (open_.size() < kMostBlocks) return false;
  tokens_.error(tokens_.now().span, fmt::format("more than {} blocks in one another", kMostBlocks),
                "put the inner blocks into a FUNC");
  return true;
}

void BlockParser::word_into(std::vector<Statement>& block, Word word) {
  Statement statement;
  statement.word = word;
  const Open opening{word, tokens_.now().span};
  statement.span = statement.word_span = opening.span;
  if (is_nested_too_deep()) return tokens_.skip_line();
  tokens_.take();
  bool is_whole = rest_of(statement);
  if (is_whole) {
    statement.span = join(statement.span, tokens_.last());
    is_whole = end_statement(tokens_, properties(word).form);
  } else {
    tokens_.skip_line();
  }
  // A block is read also where its first line is wrong.
  if (word == Word::IF) {
    if_block(statement, opening);
  } else if (word == Word::FOR || word == Word::WHILE) {
    statements_into(statement.body, opening);
  }
  if (is_whole) block.push_back(std::move(statement));
}

void BlockParser::if_block(Statement& statement, Open opening) {
  if (statements_into(statement.body, opening) != End::otherwise) return;
  if (tokens_.is_word("IF")) return else_if(statement, opening);
  if (!tokens_.take_if(TokenKind::colon)) {
    tokens_.error_here("a colon", fmt::format("write {}", properties(Word::ELSE).form));
    tokens_.skip_line();
  } else {
    end_statement(tokens_, properties(Word::ELSE).form);
  }
  while (statements_into(statement.otherwise, opening) == End::otherwise) {
    tokens_.error(tokens_.last(), "a second ELSE of one IF", "write one ELSE: for all other cases");
    tokens_.skip_line();
  }
}

// ELSE IF condition: shares the ENDIF of the first IF.
void BlockParser::else_if(Statement& statement, Open opening) {
  if (is_nested_too_deep()) return tokens_.skip_line();
  Statement inner;
  inner.word = Word::IF;
  inner.span = inner.word_span = tokens_.take().span;
  const bool is_whole = rest_of(inner);
  if (is_whole) {
    inner.span = join(inner.span, tokens_.last());
    end_statement(tokens_, properties(Word::IF).form);
  } else {
    tokens_.skip_line();
  }
  open_.push_back(opening);
  if_block(inner, opening);
  open_.pop_back();
  if (is_whole) statement.otherwise.push_back(std::move(inner));
}

}  // namespace hoist::px
