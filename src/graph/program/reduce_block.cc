#include "graph/program/reduce_block.h"

namespace hoist::graph::program {
namespace {

template <typename T>
void reduce_row(const Loop& loop, const LoopStep& step, Partial& partial, const T* row,
                size_t width, int64_t column, T& result) {
  if (is_partial(step)) {
    const bool multiplies = step.kind == LoopStep::Kind::product;
    const T part = multiplies ? product_of_part(row, width) : sum_of_part(row, width);
    if (loop.chunk < loop.columns) {
      partial.add(part, multiplies);
    } else {
      result = part;
    }
    return;
  }
  const bool is_minimum = step.kind == LoopStep::Kind::minimum;
  const T part = extreme_of_part(is_minimum, row, width);
  result = column == 0 ? part : extreme_of_two(is_minimum, result, part);
}

template <typename T>
void reduce_rows(const Loop& loop, const LoopStep& step, std::byte* const* at, Partial* partials,
                 int64_t rows, int64_t column, int64_t width) {
  const Slot& slot = loop.slots[step.inputs[0]];
  const Slot& result = loop.slots[step.output];
  const T* const from = reinterpret_cast<const T*>(at[step.inputs[0]]);
  Partial& partial = partials[step.partial];
  const bool is_argmin = step.kind == LoopStep::Kind::argmin;
  const auto columns = static_cast<size_t>(width);
  if (is_argmin || step.kind == LoopStep::Kind::argmax) {
    auto* const to = reinterpret_cast<int64_t*>(at[step.output]);
    for (int64_t r = 0; r < rows; ++r) {
      partial.see_place(is_argmin, from + r * slot.row, columns, column, to[r * result.row]);
    }
    return;
  }
  T* const to = reinterpret_cast<T*>(at[step.output]);
  for (int64_t r = 0; r < rows; ++r) {
    reduce_row(loop, step, partial, from + r * slot.row, columns, column, to[r * result.row]);
  }
}

}  // namespace

void reduce_block(const Loop& loop, const LoopStep& step, std::byte* const* at, Partial* partials,
                  int64_t rows, int64_t column, int64_t width) {
  switch (step.lanes) {
    case Lanes::f32:
      return reduce_rows<float>(loop, step, at, partials, rows, column, width);
    case Lanes::f64:
      return reduce_rows<double>(loop, step, at, partials, rows, column, width);
    case Lanes::i64:
      return reduce_rows<int64_t>(loop, step, at, partials, rows, column, width);
    case Lanes::u64:
      return reduce_rows<uint64_t>(loop, step, at, partials, rows, column, width);
  }
}

void scan_block(const Loop& loop, const LoopStep& step, std::byte* const* at, Partial* partials,
                int64_t rows, int64_t column, int64_t width) {
  const int64_t from_row = loop.slots[step.inputs[0]].row;
  const int64_t to_row = loop.slots[step.output].row;
  const auto sum = [&]<typename T>(T) {
    const T* const from = reinterpret_cast<const T*>(at[step.inputs[0]]);
    T* const to = reinterpret_cast<T*>(at[step.output]);
    for (int64_t r = 0; r < rows; ++r) {
      running_sums(from + r * from_row, width, column == 0, partials[step.partial],
                   to + r * to_row);
    }
  };
  if (step.lanes == Lanes::f32) return sum(float());
  if (step.lanes == Lanes::f64) return sum(double());
  sum(uint64_t());
}

}  // namespace hoist::graph::program
