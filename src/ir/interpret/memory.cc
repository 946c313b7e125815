// Arrays in memory: every access is checked.
#include <array>
#include <cstring>

#include "ir/arithmetic.h"
#include "ir/interpret/frame.h"

namespace hoist::ir {
namespace {

constexpr size_t kLanes = 16;  // of the widest vector

uint64_t updated(AtomicOperator op, Scalar type, uint64_t old, uint64_t operand,
                 uint64_t comparand) {
  const auto apply = [&](BinaryOperator binary) {
    return binary_bits(binary, type, old, operand, type);
  };
  switch (op) {
    case AtomicOperator::add:
      return apply(BinaryOperator::add);
    case AtomicOperator::minimum:
      return apply(BinaryOperator::minimum);
    case AtomicOperator::maximum:
      return apply(BinaryOperator::maximum);
    case AtomicOperator::bit_and:
      return apply(BinaryOperator::bit_and);
    case AtomicOperator::bit_or:
      return apply(BinaryOperator::bit_or);
    case AtomicOperator::bit_xor:
      return apply(BinaryOperator::bit_xor);
    case AtomicOperator::exchange:
      return operand;
    case AtomicOperator::compare_exchange:
      break;
  }
  return old == comparand ? operand : old;
}

}  // namespace

uint64_t Frame::read(const Memory& memory, Scalar type, uint64_t index) {
  const auto size = static_cast<size_t>(bytes(type));
  uint64_t bits = 0;
  std::memcpy(&bits, memory.data + index * size, size);
  return type == Scalar::boolean ? bits != 0 : bits;
}

void Frame::write(const Memory& memory, Scalar type, uint64_t index, uint64_t bits) {
  const auto size = static_cast<size_t>(bytes(type));
  std::memcpy(memory.data + index * size, &bits, size);
}

Frame::Memory Frame::memory(const Array* array, uint32_t thread) {
  if (array->space == Space::global) return arrays_.at(array);
  std::vector<std::byte>& own = own_arrays_.at(array);
  const uint64_t begin =
      array->space == Space::local ? thread * array->count * bytes(array->element) : 0;
  return {own.data() + begin, array->count};
}

std::optional<uint64_t> Frame::element(const Array* array, const Expression& index, int lanes,
                                       uint64_t length, uint32_t thread) {
  const uint64_t bits = value(index, thread);
  const bool is_negative = is_signed(index.type.scalar) && integer_of(index.type.scalar, bits) < 0;
  const auto count = static_cast<uint64_t>(lanes);
  if (!is_negative && bits < length / count) return bits * count;
  if (!run_.fault) {
    const auto number = static_cast<uint64_t>(integer_of(index.type.scalar, bits));
    run_.fault = {place_, run_.kernel.name, array->name,     static_cast<int64_t>(number * count),
                  length, run_.block,       position(thread)};
  }
  return std::nullopt;
}

void Frame::store(const Store& s, uint32_t thread) {
  const Memory to = memory(s.array, thread);
  const int lanes = s.value->type.lanes;
  std::array<uint64_t, kLanes> values;
  for (int i = 0; i < lanes; ++i) values[static_cast<size_t>(i)] = value(*s.value, thread, i);
  const auto at = element(s.array, *s.index, lanes, to.length, thread);
  if (!at) return;
  for (int i = 0; i < lanes; ++i) {
    write(to, s.array->element, *at + static_cast<uint64_t>(i), values[static_cast<size_t>(i)]);
  }
}

void Frame::atomic(const Atomic& s, uint32_t thread) {
  const Scalar type = s.array->element;
  const uint64_t operand = value(*s.value, thread);
  const uint64_t comparand = s.comparand ? value(*s.comparand, thread) : 0;
  const Memory memory_of = memory(s.array, thread);
  const auto at = element(s.array, *s.index, 1, memory_of.length, thread);
  const uint64_t old = at ? read(memory_of, type, *at) : 0;
  if (at) write(memory_of, type, *at, updated(s.op, type, old, operand, comparand));
  if (s.old) *slot(s.old, thread) = old;
}

}  // namespace hoist::ir
