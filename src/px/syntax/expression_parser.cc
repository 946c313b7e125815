#include "px/syntax/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "px/text/keywords.h"

namespace hoist::px {
namespace {

using syntax::Expression;
using syntax::ExpressionKind;
using syntax::ExpressionPointer;

struct InfixOperator {
  TokenKind kind;
  std::string_view word;  // empty: only the sign
  int precedence;         // the higher, the tighter
  ExpressionKind node;
  ir::BinaryOperator binary = {};
  ir::Comparison comparison = {};
};
constexpr TokenKind kNoSign = TokenKind::end_of_file;
constexpr auto kBinary = ExpressionKind::binary;
constexpr auto kCompare = ExpressionKind::compare;
constexpr InfixOperator kInfix[] = {
    {TokenKind::times, "", 8, kBinary, ir::BinaryOperator::multiply},
    {TokenKind::divide, "", 8, kBinary, ir::BinaryOperator::divide},
    {TokenKind::modulo, "MOD", 8, kBinary, ir::BinaryOperator::remainder},
    {TokenKind::plus, "", 7, kBinary, ir::BinaryOperator::add},
    {TokenKind::minus, "", 7, kBinary, ir::BinaryOperator::subtract},
    {TokenKind::shift_left, "SHL", 6, kBinary, ir::BinaryOperator::shift_left},
    {TokenKind::shift_right, "SHR", 6, kBinary, ir::BinaryOperator::shift_right},
    {kNoSign, "ROTL", 6, kBinary, ir::BinaryOperator::rotate_left},
    {kNoSign, "ROTR", 6, kBinary, ir::BinaryOperator::rotate_right},
    {TokenKind::less, "", 5, kCompare, {}, ir::Comparison::less},
    {TokenKind::less_equal, "", 5, kCompare, {}, ir::Comparison::less_equal},
    {TokenKind::greater, "", 5, kCompare, {}, ir::Comparison::greater},
    {TokenKind::greater_equal, "", 5, kCompare, {}, ir::Comparison::greater_equal},
    {TokenKind::equal, "", 4, kCompare, {}, ir::Comparison::equal},
    {TokenKind::not_equal, "", 4, kCompare, {}, ir::Comparison::not_equal},
    {TokenKind::bit_and, "AND", 3, kBinary, ir::BinaryOperator::bit_and},
    {TokenKind::bit_xor, "XOR", 2, kBinary, ir::BinaryOperator::bit_xor},
    {TokenKind::bit_or, "OR", 1, kBinary, ir::BinaryOperator::bit_or},
};

const InfixOperator* find_infix(const Token& token) {
  const bool is_word = token.kind == TokenKind::word;
  const std::string word = is_word ? upper_case(token.text) : "";
  for (const InfixOperator& infix : kInfix) {
    if (is_word ? infix.word == word : infix.kind == token.kind) return &infix;
  }
  return nullptr;
}

ExpressionPointer make(ExpressionKind kind, Span span) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->span = span;
  return node;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenReader& tokens) : tokens_(tokens) {}

  ExpressionPointer infix(int least_precedence) {
    ExpressionPointer left = unary();
    while (left != nullptr) {
      const InfixOperator* op = find_infix(tokens_.now());
      if (op == nullptr || op->precedence < least_precedence) break;
      tokens_.take();
      ExpressionPointer right = infix(op->precedence + 1);
      if (right == nullptr) return nullptr;
      ExpressionPointer node = make(op->node, join(left->span, right->span));
      node->binary = op->binary;
      node->comparison = op->comparison;
      left = with_operands(std::move(node), std::move(left), std::move(right));
    }
    return left;
  }

  ExpressionPointer unary() {
    const Token sign = tokens_.now();
    if (tokens_.take_if(TokenKind::minus)) return unary_of(sign, ir::UnaryOperator::negate);
    if (tokens_.take_if(TokenKind::bit_not) || tokens_.take_if_word("NOT")) {
      return unary_of(sign, ir::UnaryOperator::invert);
    }
    return operand();
  }

  ExpressionPointer operand() {
    switch (tokens_.now().kind) {
      case TokenKind::integer:
        return literal(ExpressionKind::integer);
      case TokenKind::real:
        return literal(ExpressionKind::real);
      case TokenKind::left_parenthesis:
        return in_parentheses();
      case TokenKind::word:
        if (!is_operator_word(tokens_.now().text)) return named();
        [[fallthrough]];
      default:
        tokens_.error_here("a value", "write a name, a number, a[i], f(x) or (…)");
        return nullptr;
    }
  }

 private:
  // Counts how deep the recursion is, and refuses what is too deep.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) { ++parser_.level_; }
    Level(const Level&) = delete;
    ~Level() { --parser_.level_; }

    bool is_too_deep() const {
      if (parser_.level_ <= Expression::kMostDepth) return false;
      parser_.refuse_depth(parser_.tokens_.now().span);
      return true;
    }

   private:
    ExpressionParser& parser_;
  };

  void refuse_depth(Span span) {
    tokens_.error(span,
                  fmt::format("the expression is nested more than {} deep", Expression::kMostDepth),
                  "take a part of it into a name: LOAD part → name");
  }

  template <typename... Operands>
  ExpressionPointer with_operands(ExpressionPointer node, Operands... operands) {
    (node->operands.push_back(std::move(operands)), ...);
    for (const ExpressionPointer& operand : node->operands) {
      node->depth = std::max(node->depth, operand->depth + 1);
    }
    if (node->depth <= Expression::kMostDepth) return node;
    refuse_depth(node->span);
    return nullptr;
  }

  ExpressionPointer unary_of(const Token& sign, ir::UnaryOperator op) {
    const Level level(*this);
    if (level.is_too_deep()) return nullptr;
    ExpressionPointer operand = unary();
    if (operand == nullptr) return nullptr;
    ExpressionPointer node = make(ExpressionKind::unary, join(sign.span, operand->span));
    node->unary = op;
    return with_operands(std::move(node), std::move(operand));
  }

  ExpressionPointer literal(ExpressionKind kind) {
    const Token token = tokens_.take();
    ExpressionPointer node = make(kind, token.span);
    node->text = token.text;
    return node;
  }

  ExpressionPointer in_parentheses() {
    const Level level(*this);
    if (level.is_too_deep()) return nullptr;
    const Token open = tokens_.take();
    ExpressionPointer inner = infix(1);
    if (inner == nullptr) return nullptr;
    if (!close(TokenKind::right_parenthesis, ")", open)) return nullptr;
    inner->span = join(open.span, tokens_.last());
    inner->is_in_parentheses = true;
    return inner;
  }

  bool close(TokenKind kind, const char* sign, const Token& open) {
    if (tokens_.take_if(kind)) return true;
    tokens_.error_here(sign, fmt::format("close the {} with {}", open.text, sign));
    return false;
  }

  ExpressionPointer named() {
    const Token name = tokens_.take();
    if (name.text == "true" || name.text == "false") {
      ExpressionPointer node = make(ExpressionKind::boolean, name.span);
      node->text = name.text;
      return node;
    }
    const Token next = tokens_.now();
    if (next.kind == TokenKind::left_bracket) return place(name);
    const bool touches = next.span.begin == name.span.end;
    if (next.kind == TokenKind::left_parenthesis && touches) return call(name);
    ExpressionPointer node = make(ExpressionKind::name, name.span);
    node->text = name.text;
    return node;
  }

  ExpressionPointer place(const Token& name) {
    const Level level(*this);
    if (level.is_too_deep()) return nullptr;
    const Token open = tokens_.take();
    ExpressionPointer index = infix(1);
    if (index == nullptr) return nullptr;
    ExpressionPointer lanes;
    if (tokens_.take_if_word("BY")) {
      lanes = infix(1);
      if (lanes == nullptr) return nullptr;
    }
    if (!close(TokenKind::right_bracket, "]", open)) return nullptr;
    const Span span = join(name.span, tokens_.last());
    ExpressionPointer node =
        make(lanes == nullptr ? ExpressionKind::index : ExpressionKind::vector, span);
    node->text = name.text;
    if (lanes == nullptr) return with_operands(std::move(node), std::move(index));
    return with_operands(std::move(node), std::move(index), std::move(lanes));
  }

  ExpressionPointer call(const Token& name) {
    const Level level(*this);
    if (level.is_too_deep()) return nullptr;
    const Token open = tokens_.take();
    ExpressionPointer node = make(ExpressionKind::call, name.span);
    node->text = name.text;
    if (!tokens_.is(TokenKind::right_parenthesis)) {
      do {
        ExpressionPointer argument = infix(1);
        if (argument == nullptr) return nullptr;
        node->operands.push_back(std::move(argument));
      } while (tokens_.take_if(TokenKind::comma));
    }
    if (!close(TokenKind::right_parenthesis, ")", open)) return nullptr;
    node->span = join(name.span, tokens_.last());
    return with_operands(std::move(node));
  }

  TokenReader& tokens_;
  int level_ = 0;
};

}  // namespace

syntax::ExpressionPointer parse_expression(TokenReader& tokens) {
  return ExpressionParser(tokens).infix(1);
}

syntax::ExpressionPointer parse_operand(TokenReader& tokens) {
  ExpressionParser parser(tokens);
  const bool is_signed_number =
      tokens.is(TokenKind::minus) &&
      (tokens.ahead().kind == TokenKind::integer || tokens.ahead().kind == TokenKind::real);
  return is_signed_number ? parser.unary() : parser.operand();
}

}  // namespace hoist::px
