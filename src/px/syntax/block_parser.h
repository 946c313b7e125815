// Statements and the blocks that they make.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "px/syntax/syntax.h"
#include "px/syntax/token_reader.h"

namespace hoist::px {

class BlockParser {
 public:
  enum class Place : uint8_t { file, kernel, function };

  BlockParser(TokenReader& tokens, Place place) : tokens_(tokens), place_(place) {}

  // Appends the statements of a kernel or function up to its end, and takes that. `opening` is the
  // first word of the kernel or function.
  void block_into(std::vector<syntax::Statement>& block, Span opening);
  // One statement, with its block where it has one.
  void statement_into(std::vector<syntax::Statement>& block);

 private:
  struct Open {
    Word word;
    Span span;
  };
  // What ended a block: a word that was taken (ENDIF, ELSE, …), or nothing, where the block lacks
  // its end. That has been reported then.
  enum class End : uint8_t { closed, otherwise, missing };

  End statements_into(std::vector<syntax::Statement>& block, Open opening);
  std::optional<End> end_at(Word word, Open opening);
  void report_missing_end(Open opening);
  void refuse_assignment();
  std::optional<Word> known_word();
  bool may_stand_here(Word word);
  bool is_nested_too_deep();

  void word_into(std::vector<syntax::Statement>& block, Word word);
  bool assignment(syntax::Statement& statement);
  // What stands behind the word, up to the end of the line, or of the statement's block.
  bool rest_of(syntax::Statement& statement);
  bool let(syntax::Statement& statement);
  bool operation(syntax::Statement& statement, size_t operands);
  bool store(syntax::Statement& statement);
  bool compare(syntax::Statement& statement);
  bool atomic(syntax::Statement& statement);
  bool reduction(syntax::Statement& statement);
  bool condition(syntax::Statement& statement);
  bool range(syntax::Statement& statement);
  void if_block(syntax::Statement& statement, Open opening);
  void else_if(syntax::Statement& statement, Open opening);
  bool launch(syntax::Statement& statement);
  bool launch_arguments(syntax::Statement& statement);
  bool sizes(syntax::Statement& statement, size_t& count);
  bool allocation(syntax::Statement& statement);
  bool copy(syntax::Statement& statement);

  bool operand(syntax::Statement& statement);
  bool expression(syntax::Statement& statement);
  bool results(syntax::Statement& statement, size_t most);
  bool name_of(syntax::Statement& statement);
  bool expect(TokenKind kind, std::string_view what, const syntax::Statement& statement);
  bool expect_word(std::string_view word, const syntax::Statement& statement);
  static std::string mend_of(const syntax::Statement& statement);

  TokenReader& tokens_;
  const Place place_;
  std::vector<Open> open_;
};

}  // namespace hoist::px
