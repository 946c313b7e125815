// Statements that give names and places their values.
#include <fmt/format.h>

#include <utility>

#include "px/lower/body_lowering.h"

namespace hoist::px {
namespace {

using syntax::ExpressionKind;

ir::BinaryOperator operator_of(Word word) {
  switch (word) {
    case Word::ADD:
      return ir::BinaryOperator::add;
    case Word::SUB:
      return ir::BinaryOperator::subtract;
    case Word::MUL:
      return ir::BinaryOperator::multiply;
    case Word::DIV:
      return ir::BinaryOperator::divide;
    case Word::MOD:
      return ir::BinaryOperator::remainder;
    case Word::AND:
      return ir::BinaryOperator::bit_and;
    case Word::OR:
      return ir::BinaryOperator::bit_or;
    case Word::XOR:
      return ir::BinaryOperator::bit_xor;
    case Word::SHL:
      return ir::BinaryOperator::shift_left;
    case Word::SHR:
      return ir::BinaryOperator::shift_right;
    case Word::ROTL:
      return ir::BinaryOperator::rotate_left;
    case Word::ROTR:
      return ir::BinaryOperator::rotate_right;
    case Word::MIN:
      return ir::BinaryOperator::minimum;
    default:
      return ir::BinaryOperator::maximum;
  }
}

}  // namespace

const ir::Expression* BodyLowering::typed_result(const std::optional<Value>& value) {
  return value ? expressions_.typed(*value) : nullptr;
}

// ADD a b → r, COMPARE a < b → r, NOT a → r
void BodyLowering::operation(const Statement& statement) {
  const syntax::Expression& first = *statement.operands[0];
  std::optional<Value> value;
  if (statement.word == Word::COMPARE) {
    value = expressions_.value(first);
  } else if (statement.word == Word::NOT) {
    value = expressions_.unary(ir::UnaryOperator::invert, first, first.span);
  } else {
    const syntax::Expression& second = *statement.operands[1];
    value = expressions_.binary(operator_of(statement.word), first, second,
                                join(first.span, second.span));
  }
  give(statement.results[0], typed_result(value));
}

void BodyLowering::ids(const Statement& statement, ir::Id id) {
  if (kernel_ == nullptr) {
    return l_.error(statement.word_span,
                    fmt::format("{} in a function", properties(statement.word).name),
                    "take it in the kernel, and give it to the function");
  }
  for (size_t i = 0; i < statement.results.size(); ++i) {
    give(statement.results[i], l_.module.expressions().id(id, static_cast<int>(i)));
  }
}

void BodyLowering::let(const Statement& statement) {
  const syntax::Name& name = statement.results[0];
  if (statement.type && statement.type->is_array) return local_array(statement);
  const std::optional<ir::Type> type =
      statement.type ? l_.type(*statement.type) : std::optional<ir::Type>();
  const ir::Expression* value = type ? expressions_.as(*statement.operands[0], *type, name.text)
                                     : expressions_.typed(*statement.operands[0]);
  if (value == nullptr || (statement.type && !type)) {
    if (l_.scopes.find_here(name.text) == nullptr)
      l_.scopes.add(name.text, {.declared = name.span});
    return;
  }
  const ir::Variable* variable = body_.declare_mutable(name.text, value);
  watch_.give(variable, *value);
  l_.declare(name, {.kind = Symbol::Kind::variable, .variable = variable, .is_let = true});
}

// LET name type[n]
void BodyLowering::local_array(const Statement& statement) {
  const syntax::Name& name = statement.results[0];
  if (statement.operands.empty()) {
    return l_.error(statement.type->span, "an array of a thread has a length",
                    fmt::format("write LET {} {}[n]", name.text, statement.type->scalar));
  }
  const auto type = l_.type(*statement.type);
  const auto count = expressions_.count(*statement.operands[0], "a length");
  if (!type || !count) {
    l_.scopes.add(name.text, {.declared = name.span});
    return;
  }
  constexpr uint64_t kMostBytes = uint64_t{16} << 10;
  const bool is_refused =
      type->is_vector() || *count > kMostBytes / static_cast<uint64_t>(ir::bytes(type->scalar));
  if (is_refused) {
    l_.scopes.add(name.text, {.declared = name.span});
    return l_.error(statement.span,
                    type->is_vector() ? "an array of vectors"
                                      : fmt::format("{} takes more than the {} bytes that a "
                                                    "thread has for arrays",
                                                    name.text, kMostBytes),
                    type->is_vector() ? "declare an array of its numbers, and load a[i BY 4]"
                                      : "make it shorter, or declare it by GPU_SHARED");
  }
  const ir::Array* array = body_.local_array(name.text, type->scalar, *count);
  l_.declare(name, {.kind = Symbol::Kind::array, .array = array});
}

void BodyLowering::assign(const syntax::Expression& place, const syntax::Expression& value) {
  if (place.kind == ExpressionKind::name) return assign_variable(place, value);
  const std::optional<Element> element = expressions_.element(place, true);
  const std::string who = element ? element->array->name : l_.text(place.span);
  const ir::Expression* stored =
      element ? expressions_.as(value, element->type(), who) : expressions_.typed(value);
  if (!element || stored == nullptr) return;
  done(body_.store(element->array, element->index, stored), place.span);
}

void BodyLowering::assign_variable(const syntax::Expression& name,
                                   const syntax::Expression& value) {
  Symbol* symbol = l_.scopes.find(name.text);
  if (symbol == nullptr) {
    expressions_.typed(value);
    l_.find(name.text, name.span);  // reports it
    return;
  }
  if (symbol->kind == Symbol::Kind::failed) return;
  if (symbol->kind == Symbol::Kind::variable && !symbol->is_loop) {
    const ir::Expression* set = expressions_.as(value, symbol->variable->type, name.text);
    if (set == nullptr || !done(body_.assign(symbol->variable, set), name.span)) return;
    watch_.give(symbol->variable, *set);
    return;
  }
  const char* what = symbol->kind == Symbol::Kind::array       ? "an array"
                     : symbol->kind == Symbol::Kind::parameter ? "a parameter"
                     : symbol->is_loop                         ? "the loop's counter"
                                                               : "no variable";
  l_.error(name.span, fmt::format("{} is {}, and cannot be set", name.text, what),
           symbol->kind == Symbol::Kind::array
               ? fmt::format("set an element: {}[i] = …", name.text)
               : fmt::format("declare another name by LET, with {} as its value", name.text));
}

// → name: sets a variable of LET, else declares the name in this block. A null value is one that
// has been reported.
void BodyLowering::give(const syntax::Name& name, const ir::Expression* value) {
  const Symbol* there = l_.scopes.find(name.text);
  const bool is_known = there != nullptr && there->kind == Symbol::Kind::variable;
  if (is_known && there->is_let) return set(*there, name, value);
  if (value == nullptr) {
    if (l_.scopes.find_here(name.text) == nullptr)
      l_.scopes.add(name.text, {.declared = name.span});
    return;
  }
  warn_of_hiding(name);
  const ir::Variable* variable = assigned_.contains(name.text)
                                     ? body_.declare_mutable(name.text, value)
                                     : body_.declare(name.text, value);
  watch_.give(variable, *value);
  l_.declare(name, {.kind = Symbol::Kind::variable, .variable = variable});
}

void BodyLowering::set(const Symbol& symbol, const syntax::Name& name,
                       const ir::Expression* value) {
  if (value == nullptr) return;
  if (value->type != symbol.variable->type) {
    return l_.error(name.span,
                    fmt::format("{} is {}, and the result is {}", name.text,
                                ir::name(symbol.variable->type), ir::name(value->type)),
                    fmt::format("take another name, and cast it: {} = {}(…)", name.text,
                                ir::name(symbol.variable->type)));
  }
  if (done(body_.assign(symbol.variable, value), name.span)) watch_.give(symbol.variable, *value);
}

// As give(), of a variable that the statement has declared itself.
void BodyLowering::adopt(const syntax::Name& name, const ir::Variable* variable, Span span) {
  const Symbol* there = l_.scopes.find(name.text);
  const bool sets = there != nullptr && there->kind == Symbol::Kind::variable && there->is_let;
  if (sets || assigned_.contains(name.text)) {
    return give(name, l_.module.expressions().variable(variable));
  }
  warn_of_hiding(name);
  l_.declare(name, {.kind = Symbol::Kind::variable, .declared = span, .variable = variable});
}

void BodyLowering::warn_of_hiding(const syntax::Name& name) {
  if (l_.scopes.find_here(name.text) != nullptr) return;  // an error, and reported as such
  const Symbol* outer = l_.scopes.find(name.text);
  if (outer == nullptr || outer->kind == Symbol::Kind::failed) return;
  l_.warn(name.span,
          fmt::format("this {} hides the one of line {}", name.text, l_.line(outer->declared)),
          fmt::format("to set that one, declare it by LET {} type = …; else choose another name",
                      name.text));
}

}  // namespace hoist::px
