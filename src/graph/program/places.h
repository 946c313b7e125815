// Where the elements of an operand lie for a block.
#pragma once

#include <algorithm>

#include "graph/program/element_types.h"
#include "graph/program/move.h"

namespace hoist::graph::program {

// body(element of memory, row and column of the block)
template <typename Body>
void each_place(const Loop& loop, const Operand& operand, const BlockRange& range,
                const Body& body) {
  if (operand.columns.size() == 1) {
    const int64_t stride = operand.columns[0];
    if (operand.row == 1 && stride != 1) {  // by columns: neighbours lie in one line
      // Few rows at a time: so many lines of registers stay in the nearest cache.
      constexpr int64_t kRows = 8;
      for (int64_t begin = 0; begin < range.rows; begin += kRows) {
        const int64_t end = std::min(range.rows, begin + kRows);
        for (int64_t c = 0; c < range.columns; ++c) {
          const int64_t from = range.row + (range.column + c) * stride;
          for (int64_t r = begin; r < end; ++r) body(from + r, r, c);
        }
      }
      return;
    }
    for (int64_t r = 0; r < range.rows; ++r) {
      const int64_t from = (range.row + r) * operand.row + range.column * stride;
      for (int64_t c = 0; c < range.columns; ++c) body(from + c * stride, r, c);
    }
    return;
  }
  const size_t axes = operand.columns.size();
  for (int64_t r = 0; r < range.rows; ++r) {
    int64_t from = (range.row + r) * operand.row;
    int64_t at[8] = {};
    int64_t rest = range.column;
    for (size_t i = axes; i-- > 0;) {
      at[i] = rest % loop.column_axes[i];
      rest /= loop.column_axes[i];
      from += at[i] * operand.columns[i];
    }
    for (int64_t c = 0; c < range.columns; ++c) {
      body(from, r, c);
      for (size_t i = axes; i-- > 0;) {
        from += operand.columns[i];
        if (++at[i] < loop.column_axes[i]) break;
        from -= operand.columns[i] * loop.column_axes[i];
        at[i] = 0;
      }
    }
  }
}

}  // namespace hoist::graph::program
