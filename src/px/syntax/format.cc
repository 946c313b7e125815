#include "px/syntax/format.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "px/text/keywords.h"
#include "px/text/names.h"
#include "px/text/token.h"

namespace hoist::px {
namespace {

bool opens_block(Word word) {
  return word == Word::GPU_KERNEL || word == Word::FUNC || word == Word::IF || word == Word::FOR ||
         word == Word::WHILE || word == Word::GPU_THREAD_CODE;
}

bool closes_block(Word word) {
  return word == Word::GPU_END || word == Word::ENDFUNC || word == Word::ENDIF ||
         word == Word::ENDFOR || word == Word::ENDWHILE;
}

// One statement, with the comments in and behind it, which may run over several lines.
class Line {
 public:
  Line(const std::vector<Token>& tokens, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) tokens_.push_back(&tokens[i]);
    find_words();
  }

  std::optional<Word> word() const {
    if (tokens_.empty() || tokens_[0]->kind != TokenKind::word || is_assignment()) return {};
    return find_word(tokens_[0]->text);
  }

  // The text, without indentation of its first line and without the line's end.
  std::string text(const Source& source, size_t indent) const {
    std::string text;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (i > 0) text += between(source, i, indent);
      text += token_text(i);
    }
    return text;
  }

 private:
  // Which tokens are words of the statement, rather than names: FROM, TO, BLOCKS, … stand where an
  // expression cannot go on.
  void find_words() {
    const std::optional<Word> first = word();
    is_word_.assign(tokens_.size(), false);
    if (first) is_word_[0] = true;
    for (size_t i = 1; i < tokens_.size(); ++i) {
      if (tokens_[i]->kind != TokenKind::word) continue;
      const std::string text = upper_case(tokens_[i]->text);
      const bool is_behind_operand = ends_operand(*tokens_[i - 1]) && !is_word_[i - 1];
      if (first == Word::ELSE) {
        is_word_[i] = i == 1;
      } else if (text == "BY") {
        is_word_[i] = is_behind_operand;
      } else if (first == Word::FOR) {
        const bool is_one = text == "FROM" || text == "TO" || text == "STEP";
        is_word_[i] = is_one && is_behind_operand;
      } else if (first == Word::GPU_LAUNCH) {
        const bool is_named = i > 2 && is_word_[2];
        const bool is_one = text == "THREADS" || text == "WITH";
        is_word_[i] = i == 2 ? text == "BLOCKS" : is_named && is_one && is_behind_operand;
      }
    }
  }

  bool is_assignment() const {
    return tokens_.size() > 1 &&
           (tokens_[1]->kind == TokenKind::assign || tokens_[1]->kind == TokenKind::left_bracket);
  }

  std::string token_text(size_t i) const {
    const Token& token = *tokens_[i];
    if (token.kind == TokenKind::arrow) return "→";
    if (token.kind == TokenKind::comment) {
      const size_t end = token.text.find_last_not_of(" \t\r");
      return std::string(token.text.substr(0, end + 1));
    }
    const bool is_upper =
        token.kind == TokenKind::word && (is_operator_word(token.text) || is_word_[i]);
    return is_upper ? upper_case(token.text) : std::string(token.text);
  }

  std::string between(const Source& source, size_t i, size_t indent) const {
    const Token& before = *tokens_[i - 1];
    const Token& token = *tokens_[i];
    const bool same_line =
        source.position(before.span.begin).line == source.position(token.span.begin).line;
    if (!same_line) return "\n" + std::string(indent + 4, ' ');
    if (token.kind == TokenKind::comment) return "  ";
    return needs_space(i) ? " " : "";
  }

  bool needs_space(size_t i) const {
    const Token& before = *tokens_[i - 1];
    const Token& token = *tokens_[i];
    const bool touch = before.span.end == token.span.begin;
    if (before.kind == TokenKind::word && is_operator_word(before.text)) return true;
    switch (token.kind) {
      case TokenKind::comma:
      case TokenKind::colon:
      case TokenKind::right_parenthesis:
      case TokenKind::right_bracket:
        return false;
      case TokenKind::left_bracket:
        return before.kind != TokenKind::word;
      // `f(x)` is a call, and `ADD a (b) → c` has two operands.
      case TokenKind::left_parenthesis:
        if (before.kind == TokenKind::word) return !touch;
        break;
      case TokenKind::times:  // `float*` is a type
        if (find_type(before.text)) return false;
        break;
      default:
        break;
    }
    if (before.kind == TokenKind::left_parenthesis || before.kind == TokenKind::left_bracket) {
      return false;
    }
    if (is_sign(i - 1)) return before.kind == token.kind;  // -- would read badly
    return true;
  }

  // Whether it stands in front of its operand, rather than between two: in `- 1`, and in
  // `ADD a -1 → b`, which has two operands.
  bool is_sign(size_t i) const {
    const Token& token = *tokens_[i];
    if (token.kind == TokenKind::bit_not) return true;
    if (token.kind != TokenKind::minus) return false;
    if (i == 0 || !ends_operand(*tokens_[i - 1])) return true;
    const bool touches_next =
        i + 1 < tokens_.size() && tokens_[i + 1]->span.begin == token.span.end;
    return touches_next && tokens_[i - 1]->span.end != token.span.begin;
  }

  static bool ends_operand(const Token& token) {
    return token.kind == TokenKind::integer || token.kind == TokenKind::real ||
           token.kind == TokenKind::right_parenthesis || token.kind == TokenKind::right_bracket ||
           (token.kind == TokenKind::word && !is_operator_word(token.text));
  }

  std::vector<const Token*> tokens_;
  std::vector<bool> is_word_;
};

class Formatter {
 public:
  explicit Formatter(const Source& source) : source_(source) {
    Diagnostics ignored;
    tokens_ = tokenize(source, ignored);
  }

  std::string run() {
    size_t begin = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      if (kind != TokenKind::end_of_line && kind != TokenKind::end_of_file) continue;
      if (i > begin) {
        line(Line(tokens_, begin, i));
      } else if (kind == TokenKind::end_of_line) {
        is_after_empty_ = true;
      }
      begin = i + 1;
    }
    return std::move(text_);
  }

 private:
  void line(const Line& line) {
    if (std::exchange(is_after_empty_, false) && !text_.empty()) text_ += '\n';
    const std::optional<Word> word = line.word();
    if (word && closes_block(*word)) close(*word);
    const bool is_else = word == Word::ELSE && !blocks_.empty();
    const size_t indent = 4 * (blocks_.size() - (is_else ? 1 : 0));
    text_.append(indent, ' ');
    text_ += line.text(source_, indent) + '\n';
    if (word && opens_block(*word)) blocks_.push_back(*word);
  }

  // GPU_END ends the code's block as well.
  void close(Word word) {
    if (word == Word::GPU_END && !blocks_.empty() && blocks_.back() == Word::GPU_THREAD_CODE) {
      blocks_.pop_back();
    }
    if (!blocks_.empty()) blocks_.pop_back();
  }

  const Source& source_;
  std::vector<Token> tokens_;
  std::vector<Word> blocks_;
  std::string text_;
  bool is_after_empty_ = false;
};

}  // namespace

std::string format(const Source& source) { return Formatter(source).run(); }

}  // namespace hoist::px
