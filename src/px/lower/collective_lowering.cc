// What the threads of a block or warp do together, and atomics.
#include <fmt/format.h>

#include <optional>

#include "px/lower/body_lowering.h"

namespace hoist::px {
namespace {

ir::AtomicOperator atomic_of(Word word) {
  switch (word) {
    case Word::ATOMIC_ADD:
      return ir::AtomicOperator::add;
    case Word::ATOMIC_MIN:
      return ir::AtomicOperator::minimum;
    case Word::ATOMIC_MAX:
      return ir::AtomicOperator::maximum;
    case Word::ATOMIC_AND:
      return ir::AtomicOperator::bit_and;
    case Word::ATOMIC_OR:
      return ir::AtomicOperator::bit_or;
    case Word::ATOMIC_XOR:
      return ir::AtomicOperator::bit_xor;
    case Word::ATOMIC_EXCHANGE:
      return ir::AtomicOperator::exchange;
    default:
      return ir::AtomicOperator::compare_exchange;
  }
}

std::optional<ir::ReduceOperator> reduction_of(std::string_view word) {
  const std::string name = upper_case(word);
  if (name == "SUM" || name == "ADD") return ir::ReduceOperator::add;
  if (name == "MIN") return ir::ReduceOperator::minimum;
  if (name == "MAX") return ir::ReduceOperator::maximum;
  if (name == "AND") return ir::ReduceOperator::bit_and;
  if (name == "OR") return ir::ReduceOperator::bit_or;
  if (name == "XOR") return ir::ReduceOperator::bit_xor;
  return std::nullopt;
}

constexpr char kTypesMend[] = "cast the value: i32(x) and f32(x) are taken by all of them";

}  // namespace

void BodyLowering::collective(const Statement& statement) {
  if (kernel_ == nullptr) {
    return l_.error(statement.word_span,
                    fmt::format("{} in a function", properties(statement.word).name),
                    "put it into the kernel");
  }
  switch (statement.word) {
    case Word::SYNC_THREADS:
      return kernel_->barrier();
    case Word::WARP_SHUFFLE:
      return shuffle(statement, ir::ShuffleKind::index);
    case Word::WARP_SHUFFLE_UP:
      return shuffle(statement, ir::ShuffleKind::up);
    case Word::WARP_SHUFFLE_DOWN:
      return shuffle(statement, ir::ShuffleKind::down);
    case Word::WARP_SHUFFLE_XOR:
      return shuffle(statement, ir::ShuffleKind::exclusive_or);
    case Word::WARP_BALLOT:
      return ballot(statement);
    case Word::WARP_REDUCE:
      return reduce(statement, ir::Reduce::Scope::warp);
    case Word::BLOCK_REDUCE:
      return reduce(statement, ir::Reduce::Scope::block);
    default:
      return atomic(statement);
  }
}

std::string BodyLowering::declared_name(const Statement& statement) const {
  return statement.results.empty() ? "" : statement.results[0].text;
}

void BodyLowering::shuffle(const Statement& statement, ir::ShuffleKind kind) {
  const ir::Expression* value = expressions_.typed(*statement.operands[0]);
  const ir::Expression* amount =
      expressions_.as(*statement.operands[1], ir::Scalar::i32, "the lane");
  if (value == nullptr || amount == nullptr) return give(statement.results[0], nullptr);
  const auto result = kernel_->shuffle(declared_name(statement), kind, value, amount);
  if (!result) return l_.error(statement.span, result.error().message, kTypesMend);
  adopt(statement.results[0], *result, statement.span);
}

void BodyLowering::ballot(const Statement& statement) {
  const ir::Expression* condition = expressions_.condition(*statement.operands[0], "WARP_BALLOT");
  if (condition == nullptr) return give(statement.results[0], nullptr);
  const auto result = kernel_->ballot(declared_name(statement), condition);
  if (!result) return l_.error(statement.span, result.error().message, kTypesMend);
  adopt(statement.results[0], *result, statement.span);
}

void BodyLowering::reduce(const Statement& statement, ir::Reduce::Scope scope) {
  const auto op = reduction_of(statement.option.text);
  if (!op) {
    l_.error(statement.option.span, fmt::format("no reduction {}", statement.option.text),
             "write SUM, MIN, MAX, AND, OR or XOR");
  }
  const ir::Expression* value = expressions_.typed(*statement.operands[0]);
  if (value == nullptr || !op) return give(statement.results[0], nullptr);
  const auto result = kernel_->reduce(declared_name(statement), scope, *op, value);
  if (!result) {
    l_.error(statement.operands[0]->span, result.error().message, kTypesMend);
    return give(statement.results[0], nullptr);
  }
  adopt(statement.results[0], *result, statement.span);
}

void BodyLowering::atomic(const Statement& statement) {
  const std::optional<Element> element = expressions_.element(*statement.operands[0], true);
  if (!element) return;
  const ir::Array& array = *element->array;
  if (array.space == ir::Space::global && array.direction == ir::Direction::out) {
    return l_.error(statement.operands[0]->span,
                    fmt::format("{} is an out array, and an atomic reads it, too", array.name),
                    "declare it inout");
  }
  if (array.space == ir::Space::local || element->lanes > 1) {
    return l_.error(statement.operands[0]->span,
                    element->lanes > 1 ? "an atomic of a vector"
                                       : fmt::format("{} is the thread's own", array.name),
                    element->lanes > 1 ? "take one element: a[i]"
                                       : "write a[i] = value: no other thread sees it");
  }
  const size_t last = statement.operands.size() - 1;
  const ir::Expression* comparand = nullptr;
  if (last == 2) {
    comparand = expressions_.as(*statement.operands[1], array.element, array.name);
    if (comparand == nullptr) return;
  }
  const ir::Expression* value =
      expressions_.as(*statement.operands[last], array.element, array.name);
  if (value == nullptr) return;
  const auto old = kernel_->atomic(declared_name(statement), atomic_of(statement.word), &array,
                                   element->index, value, comparand);
  if (!old) {
    return l_.error(statement.operands[0]->span, old.error().message,
                    "use an array of i32, u32, i64 or u64; ATOMIC_ADD takes f32 and f64, too");
  }
  if (!statement.results.empty()) adopt(statement.results[0], *old, statement.span);
}

}  // namespace hoist::px
