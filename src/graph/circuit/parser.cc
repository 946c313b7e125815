#include "graph/circuit/parser.h"

#include <fmt/core.h>

#include <utility>

#include "graph/circuit/sigil_parser.h"
#include "graph/circuit/token_reader.h"

namespace hoist::graph::circuit {
namespace {

class Parser {
 public:
  Parser(TokenReader& tokens, Grammar grammar) : tokens_(tokens), grammar_(grammar) {}

  Phrase phrase() {
    Phrase phrase;
    if (begins_transform()) {
      Term term = transformed();
      phrase.branches.emplace_back().terms.push_back(std::move(term));
    } else {
      phrase = parallel();
    }
    if (!tokens_.is(TokenKind::end)) {
      tokens_.error_here("the end", ". parts operations that follow one another, || branches");
    }
    return phrase;
  }

 private:
  bool begins_transform() const {
    return tokens_.is(TokenKind::shift) || tokens_.is(TokenKind::tilde);
  }

  Parallel parallel() {
    Parallel parallel;
    do {
      parallel.branches.push_back(sequence());
    } while (!tokens_.has_failed() && tokens_.take_if(TokenKind::parallel));
    return parallel;
  }

  Sequence sequence() {
    Sequence sequence;
    do {
      sequence.terms.push_back(term());
    } while (!tokens_.has_failed() && tokens_.take_if(TokenKind::dot));
    return sequence;
  }

  Term term() {
    if (tokens_.is(TokenKind::open)) return group();
    if (begins_transform() && grammar_ == Grammar::spec) return transformed();
    if (begins_transform()) {
      tokens_.error_here("a generator or (",
                         "the compiler's grammar has transforms at the beginning alone: or use "
                         "--grammar spec");
      return {};
    }
    return operation();
  }

  Term group() {
    const px::Span open = tokens_.take().span;
    Term term(Term::Kind::group);
    if (!enter(open)) return term;
    term.body.push_back(parallel());
    if (!tokens_.has_failed()) tokens_.expect(TokenKind::close, ")", "close the parenthesis");
    --depth_;
    return term;
  }

  bool enter(px::Span span) {
    if (++depth_ <= kMostDepth) return true;
    tokens_.error(span, fmt::format("nested deeper than {}", kMostDepth),
                  "remove parentheses or transforms");
    return false;
  }

  // R+1 D+1 T+1 ~@ par
  Term transformed() {
    const px::Span begin = tokens_.now().span;
    Term term(Term::Kind::transformed);
    amount('R', term.transform.rotate);
    amount('D', term.transform.triality);
    amount('T', term.transform.twist);
    if (!tokens_.has_failed()) term.transform.mirror = tokens_.take_if(TokenKind::tilde);
    if (tokens_.has_failed()) return term;
    if (begins_transform()) {
      tokens_.error_here("@", grammar_ == Grammar::spec
                                  ? "transforms stand in the order R D T ~, each at most once"
                                  : "transforms stand in the order R T ~, each at most once");
      return term;
    }
    if (!tokens_.expect(TokenKind::at, "@", "write R+1@ mark@c00")) return term;
    if (!enter(begin)) return term;
    term.body.push_back(parallel());
    --depth_;
    return term;
  }

  void amount(char letter, int64_t& value) {
    if (tokens_.has_failed() || !tokens_.is(TokenKind::shift)) return;
    if (tokens_.now().text[0] != letter) return;
    if (letter == 'D' && grammar_ == Grammar::compiler) {
      return tokens_.error(tokens_.now().span, "the compiler's grammar has no D",
                           "use --grammar spec");
    }
    tokens_.take();
    value = parse_amount(tokens_);
  }

  Term operation() {
    const Token word = tokens_.now();
    if (!tokens_.expect(TokenKind::word, "a generator or (",
                        "write an operation, as in mark@c21")) {
      return {};
    }
    Term term;
    term.operation.generator = *find_generator(word.text);
    if (!tokens_.expect(TokenKind::at, "@", fmt::format("write {}@c00", word.text))) return term;
    term.operation.operands = parse_operands(tokens_, term.operation.generator, grammar_);
    return term;
  }

  TokenReader& tokens_;
  Grammar grammar_;
  int depth_ = 0;
};

}  // namespace

std::optional<Phrase> parse(const px::Source& source, Grammar grammar,
                            px::Diagnostics& diagnostics) {
  if (source.text().size() > kMostBytes) {
    diagnostics.error({0, 0}, fmt::format("longer than {} bytes", kMostBytes), "split it");
    return std::nullopt;
  }
  std::vector<Token> list = tokenize(source, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  TokenReader tokens(std::move(list), diagnostics);
  Phrase phrase = Parser(tokens, grammar).phrase();
  if (diagnostics.has_errors()) return std::nullopt;
  return phrase;
}

Result<Phrase> parse(std::string_view text, Grammar grammar, const std::string& name) {
  const px::Source source(name, std::string(text));
  px::Diagnostics diagnostics;
  std::optional<Phrase> phrase = parse(source, grammar, diagnostics);
  if (phrase) return *std::move(phrase);
  std::string said = px::render(source, diagnostics);
  if (said.ends_with('\n')) said.pop_back();
  return fail(ErrorCode::invalid_argument, std::move(said));
}

}  // namespace hoist::graph::circuit
