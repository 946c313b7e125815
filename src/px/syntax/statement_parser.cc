// What stands behind the first word of each statement.
#include <fmt/format.h>

#include <utility>

#include "px/syntax/block_parser.h"
#include "px/syntax/declaration_parser.h"
#include "px/syntax/expression_parser.h"

namespace hoist::px {

using syntax::ExpressionPointer;
using syntax::Statement;

std::string BlockParser::mend_of(const Statement& statement) {
  if (statement.kind == syntax::StatementKind::assign) return "write name = value";
  return fmt::format("write {}", properties(statement.word).form);
}

bool BlockParser::expect(TokenKind kind, std::string_view what, const Statement& statement) {
  if (tokens_.take_if(kind)) return true;
  tokens_.error_here(what, mend_of(statement));
  return false;
}

bool BlockParser::expect_word(std::string_view word, const Statement& statement) {
  if (tokens_.take_if_word(word)) return true;
  tokens_.error_here(word, mend_of(statement));
  return false;
}

bool BlockParser::operand(Statement& statement) {
  const bool is_missing = tokens_.at_end_of_line() || tokens_.is(TokenKind::arrow);
  if (is_missing) {
    tokens_.error_here("a value", mend_of(statement));
    return false;
  }
  ExpressionPointer operand = parse_operand(tokens_);
  if (operand == nullptr) return false;
  statement.operands.push_back(std::move(operand));
  return true;
}

bool BlockParser::expression(Statement& statement) {
  const bool is_missing = tokens_.at_end_of_line() || tokens_.is(TokenKind::arrow);
  if (is_missing) {
    tokens_.error_here("a value", mend_of(statement));
    return false;
  }
  ExpressionPointer value = parse_expression(tokens_);
  if (value == nullptr) return false;
  statement.operands.push_back(std::move(value));
  return true;
}

// → x, y, z
bool BlockParser::results(Statement& statement, size_t most) {
  if (!tokens_.is(TokenKind::arrow) && !tokens_.at_end_of_line() && !statement.operands.empty()) {
    tokens_.error(
        tokens_.now().span, fmt::format("{} stands where → belongs", tokens_.now().text),
        fmt::format("{}; put an expression of several parts into parentheses", mend_of(statement)));
    return false;
  }
  if (!expect(TokenKind::arrow, "→", statement)) return false;
  do {
    auto name = parse_new_name(tokens_, properties(statement.word).form);
    if (!name) return false;
    if (tokens_.is(TokenKind::left_bracket)) {
      tokens_.error(
          name->span, "a result goes into a name, and this is a place of an array",
          fmt::format("give the result a name, and write STORE name → {}[…]", name->text));
      return false;
    }
    statement.results.push_back(std::move(*name));
  } while (statement.results.size() < most && tokens_.take_if(TokenKind::comma));
  return true;
}

bool BlockParser::rest_of(Statement& statement) {
  switch (statement.word) {
    case Word::LET:
      return let(statement);
    case Word::LOAD:
    case Word::WARP_BALLOT:
      return expression(statement) && results(statement, 1);
    case Word::STORE:
      return store(statement);
    case Word::COMPARE:
      return compare(statement);
    case Word::THREAD_ID:
    case Word::BLOCK_ID:
    case Word::LOCAL_ID:
    case Word::BLOCK_SIZE:
    case Word::GRID_SIZE:
      return results(statement, 3);
    case Word::NOT:
      return operation(statement, 1);
    case Word::ADD:
    case Word::SUB:
    case Word::MUL:
    case Word::DIV:
    case Word::MOD:
    case Word::AND:
    case Word::OR:
    case Word::XOR:
    case Word::SHL:
    case Word::SHR:
    case Word::ROTL:
    case Word::ROTR:
    case Word::MIN:
    case Word::MAX:
    case Word::WARP_SHUFFLE:
    case Word::WARP_SHUFFLE_UP:
    case Word::WARP_SHUFFLE_DOWN:
    case Word::WARP_SHUFFLE_XOR:
      return operation(statement, 2);
    case Word::ATOMIC_ADD:
    case Word::ATOMIC_MIN:
    case Word::ATOMIC_MAX:
    case Word::ATOMIC_AND:
    case Word::ATOMIC_OR:
    case Word::ATOMIC_XOR:
    case Word::ATOMIC_EXCHANGE:
    case Word::ATOMIC_CAS:
      return atomic(statement);
    case Word::WARP_REDUCE:
    case Word::BLOCK_REDUCE:
      return reduction(statement);
    case Word::IF:
    case Word::WHILE:
      return condition(statement);
    case Word::FOR:
      return range(statement);
    case Word::RETURN:
      return tokens_.at_end_of_line() || expression(statement);
    case Word::GPU_LAUNCH:
      return launch(statement);
    case Word::GPU_ALLOC:
      return allocation(statement);
    case Word::GPU_COPY_TO_GPU:
    case Word::GPU_COPY_FROM_GPU:
      return copy(statement);
    case Word::GPU_FREE:
      return name_of(statement);
    case Word::GPU_TARGET:
      return name_of(statement);
    case Word::GPU_SELECT:
      return expression(statement);
    default:
      return true;  // BREAK, SYNC_THREADS, …: nothing
  }
}

bool BlockParser::assignment(Statement& statement) {
  const bool is_whole =
      operand(statement) && expect(TokenKind::assign, "=", statement) && expression(statement);
  if (!is_whole) {
    tokens_.skip_line();
    return false;
  }
  statement.span = join(statement.span, tokens_.last());
  return end_statement(tokens_, "name = value");
}

bool BlockParser::let(Statement& statement) {
  const std::string_view form = properties(Word::LET).form;
  auto name = parse_new_name(tokens_, form);
  if (!name) return false;
  statement.results.push_back(std::move(*name));
  if (!tokens_.is(TokenKind::assign)) {
    statement.type = parse_type(tokens_, form);
    if (!statement.type) return false;
    if (tokens_.take_if(TokenKind::left_bracket)) {  // an array of the thread
      statement.type->is_array = true;
      return expression(statement) && expect(TokenKind::right_bracket, "]", statement);
    }
  }
  return expect(TokenKind::assign, "= and the first value", statement) && expression(statement);
}

bool BlockParser::operation(Statement& statement, size_t operands) {
  for (size_t i = 0; i < operands; ++i) {
    if (!operand(statement)) return false;
  }
  return results(statement, 1);
}

bool BlockParser::store(Statement& statement) {
  return expression(statement) && expect(TokenKind::arrow, "→", statement) && operand(statement);
}

bool BlockParser::compare(Statement& statement) {
  if (!expression(statement)) return false;
  const syntax::Expression& comparison = *statement.operands.front();
  if (comparison.kind != syntax::ExpressionKind::compare) {
    tokens_.error(comparison.span, "COMPARE lacks one of < <= > >= == !=", mend_of(statement));
    return false;
  }
  return results(statement, 1);
}

bool BlockParser::atomic(Statement& statement) {
  const size_t operands = statement.word == Word::ATOMIC_CAS ? 3 : 2;
  for (size_t i = 0; i < operands; ++i) {
    if (!operand(statement)) return false;
  }
  return tokens_.at_end_of_line() || results(statement, 1);
}

bool BlockParser::reduction(Statement& statement) {
  if (!name_of(statement)) return false;
  return expression(statement) && results(statement, 1);
}

// A bare word: the operator of a reduction, a target, a kernel, an array.
bool BlockParser::name_of(Statement& statement) {
  if (!tokens_.is(TokenKind::word)) {
    tokens_.error_here("a name", mend_of(statement));
    return false;
  }
  const Token token = tokens_.take();
  statement.option = {std::string(token.text), token.span};
  return true;
}

bool BlockParser::condition(Statement& statement) {
  return expression(statement) && expect(TokenKind::colon, "a colon", statement);
}

bool BlockParser::range(Statement& statement) {
  auto name = parse_new_name(tokens_, properties(Word::FOR).form);
  if (!name) return false;
  statement.results.push_back(std::move(*name));
  if (!expect_word("FROM", statement) || !expression(statement) || !expect_word("TO", statement) ||
      !expression(statement)) {
    return false;
  }
  if (tokens_.take_if_word("STEP") && !expression(statement)) return false;
  return expect(TokenKind::colon, "a colon", statement);
}

// GPU_LAUNCH kernel BLOCKS x, y, z THREADS x, y, z, or with a number each and no words.
bool BlockParser::launch(Statement& statement) {
  if (!name_of(statement)) return false;
  if (tokens_.take_if_word("BLOCKS")) {
    if (!sizes(statement, statement.blocks) || !expect_word("THREADS", statement) ||
        !sizes(statement, statement.threads)) {
      return false;
    }
  } else {
    if (!operand(statement) || !operand(statement)) return false;
    statement.blocks = statement.threads = 1;
  }
  return !tokens_.take_if_word("WITH") || launch_arguments(statement);
}

bool BlockParser::sizes(Statement& statement, size_t& count) {
  do {
    if (count == 3) {
      tokens_.error_here("the end of three sizes", "give one to three sizes: x, y, z");
      return false;
    }
    if (!expression(statement)) return false;
    ++count;
  } while (tokens_.take_if(TokenKind::comma));
  return true;
}

bool BlockParser::launch_arguments(Statement& statement) {
  do {
    auto name = parse_new_name(tokens_, properties(Word::GPU_LAUNCH).form);
    if (!name) return false;
    statement.results.push_back(std::move(*name));
    if (!expect(TokenKind::assign, "=", statement) || !expression(statement)) return false;
  } while (tokens_.take_if(TokenKind::comma));
  return true;
}

bool BlockParser::allocation(Statement& statement) {
  const std::string_view form = properties(Word::GPU_ALLOC).form;
  auto name = parse_new_name(tokens_, form);
  if (!name) return false;
  statement.results.push_back(std::move(*name));
  statement.type = parse_type(tokens_, form);
  return statement.type && expression(statement);
}

// GPU_COPY_TO_GPU from → to count
bool BlockParser::copy(Statement& statement) {
  const std::string_view form = properties(statement.word).form;
  auto from = parse_new_name(tokens_, form);
  if (!from || !expect(TokenKind::arrow, "→", statement)) return false;
  auto to = parse_new_name(tokens_, form);
  if (!to) return false;
  statement.results = {std::move(*from), std::move(*to)};
  return expression(statement);
}

}  // namespace hoist::px
