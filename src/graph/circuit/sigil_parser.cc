#include "graph/circuit/sigil_parser.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "graph/classes/address.h"
#include "graph/classes/classes.h"

namespace hoist::graph::circuit {
namespace {

constexpr std::string_view kClasses = "classes are c00 to c95";

// How to write what a generator names.
std::string_view form_of(Generator generator) {
  switch (generator) {
    case Generator::copy:
      return "copy@c05->c06";
    case Generator::swap:
      return "swap@c05<->c06";
    case Generator::merge:
      return "merge@c00[c01,c02]";
    case Generator::split:
      return "split@c00[c01,c02]";
    default:
      return "";
  }
}

class SigilParser {
 public:
  SigilParser(TokenReader& tokens, Generator generator, Grammar grammar)
      : tokens_(tokens), generator_(generator), grammar_(grammar) {}

  std::vector<Sigil> run() {
    if (tokens_.is(TokenKind::class_letter) && tokens_.is_next(TokenKind::open_bracket)) {
      range();
    } else {
      classes();
    }
    if (tokens_.has_failed()) sigils_.clear();
    return std::move(sigils_);
  }

 private:
  void classes() {
    one_class();
    switch (operands_of(generator_, grammar_)) {
      case 1:
        refuse_further_classes();
        break;
      case 2: {
        const bool is_copy = generator_ == Generator::copy;
        sign(is_copy ? TokenKind::arrow : TokenKind::both_arrow, is_copy ? "->" : "<->");
        one_class();
        break;
      }
      default:
        sign(TokenKind::open_bracket, "[");
        one_class();
        sign(TokenKind::comma, ",");
        one_class();
        sign(TokenKind::close_bracket, "]");
    }
  }

  void sign(TokenKind kind, std::string_view text) {
    if (tokens_.has_failed() || tokens_.take_if(kind)) return;
    const bool is_first = sigils_.size() == 1;
    std::string mend = fmt::format("write {}", form_of(generator_));
    if (is_first) mend += ", or use --grammar spec, where it names one class";
    tokens_.error_here(text, std::move(mend));
  }

  // What stands behind a class that stands alone.
  void refuse_further_classes() {
    const bool has_more = tokens_.is(TokenKind::arrow) || tokens_.is(TokenKind::both_arrow) ||
                          tokens_.is(TokenKind::open_bracket);
    if (!has_more || tokens_.has_failed()) return;
    const bool is_spec = grammar_ == Grammar::spec && !form_of(generator_).empty();
    tokens_.error(tokens_.now().span, fmt::format("{} names one class", name(generator_)),
                  is_spec ? "use --grammar compiler, where it names all its classes"
                          : fmt::format("write {}@c00", name(generator_)));
  }

  void one_class() {
    if (tokens_.has_failed()) return;
    if (!tokens_.is(TokenKind::class_name)) {
      return tokens_.error_here("a class", std::string(kClasses));
    }
    const Token token = tokens_.take();
    const std::optional<uint8_t> index = class_index(token);
    if (!index) return;
    Sigil sigil{.first = *index, .last = *index};
    shift(sigil);
    page(sigil);
    sigils_.push_back(sigil);
  }

  std::optional<uint8_t> class_index(const Token& token) {
    if (token.value < kByteClasses) return static_cast<uint8_t>(token.value);
    tokens_.error(token.span, "no such class", std::string(kClasses));
    return std::nullopt;
  }

  // ^+3, ^R+1, ~
  void shift(Sigil& sigil) {
    if (tokens_.take_if(TokenKind::caret)) {
      sigil.shift = 'T';
      if (tokens_.is(TokenKind::shift)) {
        const Token letter = tokens_.take();
        sigil.shift = letter.text[0];
        if (grammar_ == Grammar::compiler) {
          tokens_.error(letter.span, fmt::format("{} where a sign belongs", letter.text),
                        "behind a class the compiler's grammar has twists only, as in ^+3: or use "
                        "--grammar spec");
        }
      }
      sigil.amount = parse_amount(tokens_);
    }
    sigil.mirror = tokens_.take_if(TokenKind::tilde);
  }

  void page(Sigil& sigil) {
    if (!tokens_.take_if(TokenKind::at)) return;
    const px::Span span = tokens_.now().span;
    const std::optional<int64_t> number = take_number("a page");
    if (!number) return;
    if (*number >= static_cast<int64_t>(BeltAddress::kPages)) {
      return tokens_.error(span, "no such page", "pages are 0 to 47");
    }
    sigil.page = static_cast<uint8_t>(*number);
  }

  std::optional<int64_t> take_number(std::string_view what) {
    if (tokens_.has_failed()) return std::nullopt;
    if (tokens_.is(TokenKind::number)) return tokens_.take().value;
    tokens_.error_here(what, fmt::format("write {} as a number", what));
    return std::nullopt;
  }

  // c[0..9]
  void range() {
    const px::Span letter = tokens_.take().span;
    tokens_.take();
    if (grammar_ == Grammar::spec) {
      return tokens_.error(letter, "a range where a class belongs",
                           "use --grammar compiler, which has ranges");
    }
    if (!takes_range(generator_)) {
      return tokens_.error(letter, fmt::format("{} takes no range", name(generator_)),
                           fmt::format("name its classes: {}", form_of(generator_)));
    }
    const px::Span first_span = tokens_.now().span;
    const std::optional<uint8_t> first = range_end();
    if (!tokens_.has_failed()) tokens_.expect(TokenKind::dots, "..", "write c[0..9]");
    const px::Span last_span = tokens_.now().span;
    const std::optional<uint8_t> last = range_end();
    if (tokens_.has_failed()) return;
    if (*first >= *last) {
      return tokens_.error(px::join(first_span, last_span), "a range that does not ascend",
                           "write the lower class first; one class alone is c05");
    }
    if (!tokens_.expect(TokenKind::close_bracket, "]", "write c[0..9]")) return;
    Sigil sigil{.first = *first, .last = *last};
    shift(sigil);
    if (tokens_.is(TokenKind::at)) {
      return tokens_.error(tokens_.now().span, "a range has no page", "remove the page");
    }
    sigils_.push_back(sigil);
  }

  std::optional<uint8_t> range_end() {
    if (tokens_.has_failed()) return std::nullopt;
    if (!tokens_.is(TokenKind::number)) {
      tokens_.error_here("the number of a class", "write c[0..9]");
      return std::nullopt;
    }
    return class_index(tokens_.take());
  }

  TokenReader& tokens_;
  Generator generator_;
  Grammar grammar_;
  std::vector<Sigil> sigils_;
};

}  // namespace

int64_t parse_amount(TokenReader& tokens) {
  const bool is_negative = tokens.is(TokenKind::minus);
  if (!is_negative && !tokens.is(TokenKind::plus)) {
    tokens.error_here("a sign", "a transform has a sign: write +1 or -1");
    return 0;
  }
  tokens.take();
  const Token number = tokens.now();
  if (!tokens.expect(TokenKind::number, "a number", "write +1 or -1")) return 0;
  if (number.value >= kTooLarge) {
    tokens.error(number.span, "a number too large", "amounts are below 1000000000");
    return 0;
  }
  return is_negative ? -number.value : number.value;
}

std::vector<Sigil> parse_operands(TokenReader& tokens, Generator generator, Grammar grammar) {
  return SigilParser(tokens, generator, grammar).run();
}

}  // namespace hoist::graph::circuit
