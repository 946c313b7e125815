// What threads do together: each finds what the others have.
#include <algorithm>
#include <span>

#include "ir/arithmetic.h"
#include "ir/interpret/frame.h"

namespace hoist::ir {
namespace {

// Reduces at most 32 values, in the order of ir/statement.h.
uint64_t combine(std::span<uint64_t> values, ReduceOperator op, Scalar type) {
  for (size_t distance = kWarp / 2; distance > 0; distance /= 2) {
    for (size_t i = 0; i < distance && i + distance < values.size(); ++i) {
      values[i] = binary_bits(binary_operator(op), type, values[i], values[i + distance], type);
    }
  }
  return values[0];
}

}  // namespace

// The value of each active thread.
std::vector<uint64_t> Frame::values(const Expression& e, const Threads& active) {
  std::vector<uint64_t> list(threads_);
  for (const uint32_t thread : active) list[thread] = value(e, thread);
  return list;
}

void Frame::shuffle(const Shuffle& s, const Threads& active) {
  const std::vector<uint64_t> given = values(*s.value, active);
  for (const uint32_t thread : active) {
    const int64_t lane = thread % kWarp;
    const int64_t amount = integer_of(Scalar::i32, value(*s.amount, thread));
    int64_t from = 0;
    switch (s.kind) {
      case ShuffleKind::index:
        from = amount;
        break;
      case ShuffleKind::up:
        from = lane - amount;
        break;
      case ShuffleKind::down:
        from = lane + amount;
        break;
      case ShuffleKind::exclusive_or:
        from = lane ^ amount;
        break;
    }
    const int64_t source = thread - lane + from;
    const bool is_there = from >= 0 && from < kWarp && source < int64_t{threads_};
    *slot(s.result, thread) = given[is_there ? static_cast<size_t>(source) : thread];
  }
}

void Frame::ballot(const Ballot& s, const Threads& active) {
  std::vector<uint64_t> votes((threads_ + kWarp - 1) / kWarp);
  for (const uint32_t thread : active) {
    votes[thread / kWarp] |= value(*s.condition, thread) << (thread % kWarp);
  }
  for (const uint32_t thread : active) *slot(s.result, thread) = votes[thread / kWarp];
}

void Frame::reduce(const Reduce& s, const Threads& active) {
  std::vector<uint64_t> given = values(*s.value, active);
  const Scalar type = s.value->type.scalar;
  std::vector<uint64_t> warps;
  for (size_t begin = 0; begin < given.size(); begin += kWarp) {
    const size_t size = std::min<size_t>(kWarp, given.size() - begin);
    warps.push_back(combine(std::span(given).subspan(begin, size), s.op, type));
  }
  const bool is_block = s.scope == Reduce::Scope::block;
  if (is_block) combine(warps, s.op, type);
  for (const uint32_t thread : active) {
    *slot(s.result, thread) = warps[is_block ? 0 : thread / kWarp];
  }
}

}  // namespace hoist::ir
