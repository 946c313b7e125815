#include "px/lower/body_lowering.h"

#include <fmt/format.h>

#include <utility>

#include "ir/arithmetic.h"
#include "px/lower/evaluate.h"

namespace hoist::px {
namespace {

using syntax::Statement;
using syntax::StatementKind;

// Names that `name = value` and `STORE value → name` set.
void collect_assigned(const std::vector<Statement>& block, std::set<std::string>& names) {
  for (const Statement& statement : block) {
    const bool assigns = statement.kind == StatementKind::assign;
    const bool stores = !assigns && statement.word == Word::STORE;
    if (assigns) names.insert(statement.operands[0]->text);
    if (stores) names.insert(statement.operands[1]->text);
    collect_assigned(statement.body, names);
    collect_assigned(statement.otherwise, names);
  }
}

bool ends_in_exit(const std::vector<Statement>& block) {
  if (block.empty() || block.back().kind == StatementKind::assign) return false;
  const Word word = block.back().word;
  return word == Word::RETURN || word == Word::BREAK || word == Word::CONTINUE;
}

}  // namespace

bool BodyLowering::done(const Status& status, Span span) {
  if (!status) l_.error(span, status.error().message, "cast the value to the type that fits");
  return status.has_value();
}

void BodyLowering::run(const std::vector<Statement>& body) {
  collect_assigned(body, assigned_);
  statements(body);
}

void BodyLowering::statements(const std::vector<Statement>& block) {
  int guards = 0;
  for (const Statement& statement : block) {
    this->statement(statement);
    // IF tid >= n: RETURN ENDIF guards what stands behind.
    const bool may_guard = statement.kind == StatementKind::word && statement.word == Word::IF &&
                           ends_in_exit(statement.body);
    if (!may_guard) continue;
    watch_.enter();
    ++guards;
  }
  for (; guards > 0; --guards) watch_.leave();
}

void BodyLowering::nested(const std::vector<Statement>& block) {
  l_.scopes.open();
  statements(block);
  leave_block();
}

void BodyLowering::leave_block() {
  l_.scopes.close([&](const std::string& name, const Symbol& symbol) {
    const bool counts = symbol.kind == Symbol::Kind::variable && !symbol.is_loop;
    if (!counts || symbol.is_used || name.starts_with('_')) return;
    l_.warn(symbol.declared, fmt::format("{} is never used", name),
            fmt::format("leave it out, or call it _{}", name));
  });
}

void BodyLowering::statement(const Statement& statement) {
  body_.at(l_.place(statement.word_span));
  if (statement.kind == StatementKind::assign) {
    return assign(*statement.operands[0], *statement.operands[1]);
  }
  word(statement);
}

void BodyLowering::word(const Statement& statement) {
  switch (statement.word) {
    case Word::LET:
      return let(statement);
    case Word::LOAD:
      return give(statement.results[0], typed_result(expressions_.value(*statement.operands[0])));
    case Word::STORE:
      return assign(*statement.operands[1], *statement.operands[0]);
    case Word::THREAD_ID:
      return ids(statement, ir::Id::thread);
    case Word::BLOCK_ID:
      return ids(statement, ir::Id::block);
    case Word::LOCAL_ID:
      return ids(statement, ir::Id::local);
    case Word::BLOCK_SIZE:
      return ids(statement, ir::Id::block_size);
    case Word::GRID_SIZE:
      return ids(statement, ir::Id::grid_size);
    case Word::IF:
      return branch(statement);
    case Word::FOR:
      return loop(statement);
    case Word::WHILE:
      return repeat(statement);
    case Word::BREAK:
    case Word::CONTINUE:
      return leave(statement);
    case Word::RETURN:
      return return_from(statement);
    case Word::SYNC_THREADS:
    case Word::WARP_SHUFFLE:
    case Word::WARP_SHUFFLE_UP:
    case Word::WARP_SHUFFLE_DOWN:
    case Word::WARP_SHUFFLE_XOR:
    case Word::WARP_BALLOT:
    case Word::WARP_REDUCE:
    case Word::BLOCK_REDUCE:
    case Word::ATOMIC_ADD:
    case Word::ATOMIC_MIN:
    case Word::ATOMIC_MAX:
    case Word::ATOMIC_AND:
    case Word::ATOMIC_OR:
    case Word::ATOMIC_XOR:
    case Word::ATOMIC_EXCHANGE:
    case Word::ATOMIC_CAS:
      return collective(statement);
    default:
      return operation(statement);
  }
}

void BodyLowering::branch(const Statement& statement) {
  const ir::Expression* condition = expressions_.condition(*statement.operands[0], "IF");
  const bool guards = condition != nullptr && watch_.is_guard(*condition);
  if (condition == nullptr) condition = l_.module.expressions().boolean(true);
  if (!done(body_.begin_if(condition), statement.span)) return;
  if (guards) watch_.enter();
  nested(statement.body);
  if (!statement.otherwise.empty()) {
    body_.begin_else();
    nested(statement.otherwise);
  }
  if (guards) watch_.leave();
  body_.end();
}

void BodyLowering::loop(const Statement& statement) {
  std::vector<Value> bounds;
  for (const syntax::ExpressionPointer& operand : statement.operands) {
    if (const auto bound = expressions_.value(*operand)) bounds.push_back(*bound);
  }
  ir::Expressions& make = l_.module.expressions();
  std::vector<const ir::Expression*> typed;
  if (bounds.size() == statement.operands.size()) typed = expressions_.same_type(bounds, "FOR");
  if (!typed.empty() && (typed[0]->type.is_vector() || !ir::is_integer(typed[0]->type.scalar))) {
    l_.error(bounds[0].span,
             fmt::format("FOR counts in integers, and not in {}", name(typed[0]->type)),
             "count in i32, and compute the value from it");
    typed.clear();
  }
  const bool is_whole = !typed.empty();
  if (!is_whole) typed = {make.integer(ir::Scalar::i32, 0), make.integer(ir::Scalar::i32, 1)};
  if (typed.size() == 2) typed.push_back(make.integer(typed[0]->type.scalar, 1));
  if (evaluate(*typed[2]) == 0) {
    l_.error(statement.operands[2]->span, "a step of 0 gets nowhere", "write another STEP");
  }
  const syntax::Name& name = statement.results[0];
  const auto variable = body_.begin_for(name.text, typed[0], typed[1], typed[2]);
  if (!variable) return l_.error(statement.span, variable.error().message, "count in i32");
  l_.scopes.open();
  warn_of_hiding(name);
  l_.declare(name, {.kind = is_whole ? Symbol::Kind::variable : Symbol::Kind::failed,
                    .variable = *variable,
                    .is_loop = true});
  nested(statement.body);
  leave_block();
  body_.end();
}

void BodyLowering::repeat(const Statement& statement) {
  const ir::Expression* condition = expressions_.condition(*statement.operands[0], "WHILE");
  const bool guards = condition != nullptr && watch_.is_guard(*condition);
  if (condition == nullptr) condition = l_.module.expressions().boolean(true);
  if (!done(body_.begin_while(condition), statement.span)) return;
  if (guards) watch_.enter();
  nested(statement.body);
  if (guards) watch_.leave();
  body_.end();
}

void BodyLowering::leave(const Statement& statement) {
  if (!body_.is_in_loop()) {
    const std::string_view word = properties(statement.word).name;
    return l_.error(statement.word_span, fmt::format("{} stands outside of a loop", word),
                    "put it into FOR … ENDFOR or WHILE … ENDWHILE, or write RETURN");
  }
  done(statement.word == Word::BREAK ? body_.break_loop() : body_.continue_loop(), statement.span);
}

void BodyLowering::return_from(const Statement& statement) {
  if (kernel_ != nullptr) {
    if (statement.operands.empty()) return kernel_->return_thread();
    return l_.error(statement.operands[0]->span, "a kernel returns no value",
                    "store the value into an array, and write RETURN alone");
  }
  if (statement.operands.empty()) {
    return l_.error(statement.word_span, "a function returns a value", "write RETURN value");
  }
  const ir::Expression* value =
      expressions_.as(*statement.operands[0], result_, "the function's result");
  if (value != nullptr) done(function_->return_value(value), statement.span);
}

}  // namespace hoist::px
