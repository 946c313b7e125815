#include "px/text/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "px/text/keywords.h"
#include "px/text/names.h"

namespace hoist::px {
namespace {

struct Symbol {
  std::string_view text;
  TokenKind kind;
};
// Longer ones before their beginnings.
constexpr Symbol kSymbols[] = {
    {"→", TokenKind::arrow},
    {"->", TokenKind::arrow},
    {"<<", TokenKind::shift_left},
    {">>", TokenKind::shift_right},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal},
    {"!=", TokenKind::not_equal},
    {"(", TokenKind::left_parenthesis},
    {")", TokenKind::right_parenthesis},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {",", TokenKind::comma},
    {":", TokenKind::colon},
    {"=", TokenKind::assign},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"*", TokenKind::times},
    {"/", TokenKind::divide},
    {"%", TokenKind::modulo},
    {"&", TokenKind::bit_and},
    {"|", TokenKind::bit_or},
    {"^", TokenKind::bit_xor},
    {"~", TokenKind::bit_not},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
};

// What other languages write, and how px does.
struct Foreign {
  std::string_view text;
  std::string_view mend;
};
constexpr Foreign kForeign[] = {
    {"&&", "write AND"},
    {"||", "write OR"},
    {"!", "write NOT"},
    {";", "end the statement with the line"},
    {"//", "write a comment with #"},
    {"?", "write select(condition, a, b)"},
    {"{", "write the block as IF … ENDIF, FOR … ENDFOR or the like"},
    {"}", "write the block as IF … ENDIF, FOR … ENDFOR or the like"},
    {".", "write a number with a digit before the point; lanes of a vector are v[0], v[1], …"},
    {"+=", "write name = name + value"},
    {"-=", "write name = name - value"},
    {"*=", "write name = name * value"},
    {"++", "write name = name + 1"},
    {"\"", "px has no strings: leave it out"},
    {"'", "write the character's number"},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c); }

class Tokenizer {
 public:
  Tokenizer(const Source& source, Diagnostics& diagnostics)
      : text_(source.text()), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    if (!tokens_.empty() && tokens_.back().kind != TokenKind::end_of_line) {
      push(TokenKind::end_of_line, 0);
    }
    push(TokenKind::end_of_file, 0);
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Span here(size_t size) const {
    return {static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ + size)};
  }

  void push(TokenKind kind, size_t size) {
    tokens_.push_back({kind, here(size), text_.substr(at_, size)});
    at_ += size;
  }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '\n') {
      end_line();
    } else if (c == '#') {
      push(TokenKind::comment, std::min(rest().find('\n'), rest().size()));
    } else if (is_letter(c)) {
      push(TokenKind::word, length_of(is_word_part));
    } else if (is_digit(c)) {
      number();
    } else if (!symbol()) {
      unknown();
    }
  }

  // The number of characters from here on that pass.
  template <typename Passes>
  size_t length_of(Passes passes, size_t from = 0) const {
    size_t size = from;
    while (at_ + size < text_.size() && passes(text_[at_ + size])) ++size;
    return size;
  }

  void end_line() {
    if (goes_on()) {
      ++at_;
    } else {
      push(TokenKind::end_of_line, 1);
    }
  }

  // Whether the last token, comments apart, leaves the statement open.
  bool goes_on() const {
    const auto last = std::find_if(tokens_.rbegin(), tokens_.rend(), [](const Token& token) {
      return token.kind != TokenKind::comment;
    });
    if (last == tokens_.rend()) return false;
    if (last->kind == TokenKind::word) {
      // As the first word of a line it is a statement without operands.
      const auto before = last + 1;
      return is_operator_word(last->text) && before != tokens_.rend() &&
             before->kind != TokenKind::end_of_line;
    }
    if (last->kind == TokenKind::times && last + 1 != tokens_.rend()) {
      return !find_type((last + 1)->text);  // `float*` is a type
    }
    return last->kind >= TokenKind::plus || last->kind == TokenKind::left_parenthesis ||
           last->kind == TokenKind::left_bracket || last->kind == TokenKind::comma ||
           last->kind == TokenKind::assign;
  }

  void number() {
    TokenKind kind = TokenKind::integer;
    size_t size = 0;
    if (text_[at_] == '0' &&
        (peek(1) == 'x' || peek(1) == 'X' || peek(1) == 'b' || peek(1) == 'B')) {
      size = length_of(is_word_part);
    } else {
      const auto is_decimal = [](char c) { return is_digit(c) || c == '_'; };
      size = length_of(is_decimal);
      if (peek(size) == '.') {
        kind = TokenKind::real;
        size = length_of(is_decimal, size + 1);
      }
      size = exponent(size, kind);
    }
    const size_t with_rest = length_of(is_word_part, size);
    if (with_rest > size) {
      diagnostics_.error(here(with_rest),
                         fmt::format("{} is no number", text_.substr(at_, with_rest)),
                         "put a space behind the number; the type of a number is written u8(1)");
    }
    push(kind, with_rest);
  }

  // The size of the number with its exponent, if it has one.
  size_t exponent(size_t size, TokenKind& kind) const {
    if (peek(size) != 'e' && peek(size) != 'E') return size;
    const size_t sign = peek(size + 1) == '+' || peek(size + 1) == '-' ? 1 : 0;
    if (!is_digit(peek(size + 1 + sign))) return size;
    kind = TokenKind::real;
    return length_of(is_digit, size + 1 + sign);
  }

  bool symbol() {
    for (const Foreign& foreign : kForeign) {
      if (foreign.text.size() > 1 && rest().starts_with(foreign.text)) return false;
    }
    for (const Symbol& symbol : kSymbols) {
      if (!rest().starts_with(symbol.text)) continue;
      push(symbol.kind, symbol.text.size());
      return true;
    }
    return false;
  }

  void unknown() {
    for (const Foreign& foreign : kForeign) {
      if (!rest().starts_with(foreign.text)) continue;
      report(foreign.text.size(), std::string(foreign.mend));
      return;
    }
    size_t size = 1;
    while ((static_cast<unsigned char>(peek(size)) & 0xc0) == 0x80 && size < 4) ++size;
    report(size, "leave it out; names are made of letters, digits and _");
  }

  void report(size_t size, std::string mend) {
    const std::string_view shown = rest().substr(0, size);
    const bool is_readable = size > 1 || (shown[0] > 0x20 && shown[0] < 0x7f);
    diagnostics_.error(here(size),
                       is_readable ? fmt::format("{} means nothing here", shown)
                                   : fmt::format("byte 0x{:02x} means nothing here",
                                                 static_cast<unsigned char>(shown[0])),
                       std::move(mend));
    at_ += size;
    if (shown == "//") at_ += std::min(rest().find('\n'), rest().size());
  }

  const std::string_view text_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const Source& source, Diagnostics& diagnostics) {
  return Tokenizer(source, diagnostics).run();
}

}  // namespace hoist::px
