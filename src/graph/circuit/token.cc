#include "graph/circuit/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/nearest_word.h"
#include "graph/circuit/syntax.h"

namespace hoist::graph::circuit {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Longer ones first.
constexpr std::pair<std::string_view, TokenKind> kSigns[] = {
    {"<->", TokenKind::both_arrow}, {"->", TokenKind::arrow},       {"||", TokenKind::parallel},
    {"..", TokenKind::dots},        {".", TokenKind::dot},          {"(", TokenKind::open},
    {")", TokenKind::close},        {"[", TokenKind::open_bracket}, {"]", TokenKind::close_bracket},
    {",", TokenKind::comma},        {"@", TokenKind::at},           {"^", TokenKind::caret},
    {"~", TokenKind::tilde},        {"+", TokenKind::plus},         {"-", TokenKind::minus},
};

// Signs of other languages, and what is written here instead.
constexpr std::pair<std::string_view, std::string_view> kOtherSigns[] = {
    {"|", "branches are parted by ||"},
    {"/", "a comment begins with //"},
    {";", "a dot parts operations that follow one another"},
    {"·", "a dot parts operations that follow one another: ."},
    {"∘", "a dot parts operations that follow one another: ."},
    {"⊗", "branches are parted by ||"},
    {"→", "write ->"},
    {"↔", "write <->"},
    {"<", "swap names its classes as c00<->c01"},
    {">", "copy names its classes as c00->c01"},
    {"…", "a range is written with two dots: c[0..9]"},
};

class Tokenizer {
 public:
  Tokenizer(const px::Source& source, px::Diagnostics& diagnostics)
      : text_(source.text()), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    for (skip_space(); at_ < text_.size(); skip_space()) take();
    const auto end = static_cast<uint32_t>(at_);
    tokens_.push_back({TokenKind::end, {}, {end, end}});
    return std::move(tokens_);
  }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (is_space(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  px::Span span(size_t length) const {
    return {static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ + length)};
  }

  void push(TokenKind kind, size_t length, int64_t value = 0) {
    tokens_.push_back({kind, text_.substr(at_, length), span(length), value});
    at_ += length;
  }

  size_t length_of(bool (*belongs)(char)) const {
    const auto end = std::find_if_not(text_.begin() + static_cast<long>(at_), text_.end(), belongs);
    return static_cast<size_t>(end - text_.begin()) - at_;
  }

  static int64_t value_of(std::string_view digits) {
    int64_t value = 0;
    for (const char digit : digits) value = std::min(value * 10 + (digit - '0'), kTooLarge);
    return value;
  }

  void take() {
    if (is_digit(text_[at_])) {
      const size_t length = length_of(is_digit);
      push(TokenKind::number, length, value_of(text_.substr(at_, length)));
    } else if (is_letter(text_[at_])) {
      take_word(length_of([](char c) { return is_letter(c) || is_digit(c); }));
    } else {
      take_sign();
    }
  }

  void take_word(size_t length) {
    const std::string_view word = text_.substr(at_, length);
    const std::string_view rest = word.substr(1);
    if (word == "c") {
      push(TokenKind::class_letter, length);
    } else if (word[0] == 'c' && std::all_of(rest.begin(), rest.end(), is_digit)) {
      push(TokenKind::class_name, length, value_of(rest));
    } else if (word == "R" || word == "D" || word == "T") {
      push(TokenKind::shift, length);
    } else if (find_generator(word)) {
      push(TokenKind::word, length);
    } else {
      diagnostics_.error(span(length), fmt::format("{} means nothing here", shortened(word)),
                         mend_of(word));
      at_ += length;
    }
  }

  static std::string shortened(std::string_view word) {
    constexpr size_t kMost = 40;
    if (word.size() <= kMost) return std::string(word);
    return fmt::format("{}…", word.substr(0, kMost));
  }

  static std::string mend_of(std::string_view word) {
    const std::string_view rest = word.substr(1);
    const bool has_number =
        !rest.empty() && rest.size() < 10 && std::all_of(rest.begin(), rest.end(), is_digit);
    if (has_number && (word[0] == 'R' || word[0] == 'D' || word[0] == 'T')) {
      return fmt::format("a transform has a sign: {}+{}", word[0], rest);
    }
    if (has_number && word[0] == 'C') return fmt::format("is it c{}?", rest);
    std::vector<std::string> names;
    for (int i = 0; i < kGenerators; ++i) names.emplace_back(name(static_cast<Generator>(i)));
    const std::string nearest = nearest_word(word, names);
    if (!nearest.empty()) return fmt::format("is it {}?", nearest);
    return fmt::format("the generators are {}", fmt::join(names, ", "));
  }

  void take_sign() {
    for (const auto& [sign, kind] : kSigns) {
      if (text_.substr(at_).starts_with(sign)) return push(kind, sign.size());
    }
    size_t length = 1;
    while (length < 4 && at_ + length < text_.size() && continues_character(text_[at_ + length])) {
      ++length;
    }
    const std::string_view sign = text_.substr(at_, length);
    const auto* const other = std::find_if(std::begin(kOtherSigns), std::end(kOtherSigns),
                                           [&](const auto& pair) { return pair.first == sign; });
    diagnostics_.error(span(length), fmt::format("{} means nothing here", shown(sign)),
                       std::string(other == std::end(kOtherSigns) ? "remove it" : other->second));
    at_ += length;
  }

  // Characters that a terminal cannot show are shown as their bytes.
  static std::string shown(std::string_view sign) {
    const auto first = static_cast<unsigned char>(sign[0]);
    const bool is_shown = first >= 0xc2 ? sign.size() > 1 : first > 0x20 && first < 0x7f;
    return is_shown ? std::string(sign) : fmt::format("byte {:#04x}", first);
  }

  std::string_view text_;
  px::Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(const px::Source& source, px::Diagnostics& diagnostics) {
  return Tokenizer(source, diagnostics).run();
}

}  // namespace hoist::graph::circuit
