#include "graph/program/move.h"

namespace hoist::graph::program {
namespace {

// body(element of memory, element of the registers), as offsets.
template <typename Body>
void each(const Loop& loop, const Operand& operand, const BlockRange& range, int64_t register_row,
          const Body& body) {
  if (operand.columns.size() == 1) {
    const int64_t stride = operand.columns[0];
    if (operand.row == 1 && stride != 1) {  // by columns: neighbours lie in one line
      for (int64_t c = 0; c < range.columns; ++c) {
        const int64_t from = range.row + (range.column + c) * stride;
        for (int64_t r = 0; r < range.rows; ++r) body(from + r, r * register_row + c);
      }
      return;
    }
    for (int64_t r = 0; r < range.rows; ++r) {
      const int64_t from = (range.row + r) * operand.row + range.column * stride;
      for (int64_t c = 0; c < range.columns; ++c) body(from + c * stride, r * register_row + c);
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
      body(from, r * register_row + c);
      for (size_t i = axes; i-- > 0;) {
        from += operand.columns[i];
        if (++at[i] < loop.column_axes[i]) break;
        from -= operand.columns[i] * loop.column_axes[i];
        at[i] = 0;
      }
    }
  }
}

}  // namespace

void gather_block(const Loop& loop, const Operand& operand, const float* at,
                  const BlockRange& range, float* registers, int64_t register_row) {
  if (operand.is_bytes) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(at);
    each(loop, operand, range, register_row, [&](int64_t memory, int64_t place) {
      registers[place] = bytes[memory] != 0 ? 1.0f : 0.0f;
    });
    return;
  }
  each(loop, operand, range, register_row,
       [&](int64_t memory, int64_t place) { registers[place] = at[memory]; });
}

void scatter_block(const Loop& loop, const Operand& operand, float* at, const BlockRange& range,
                   const float* registers, int64_t register_row) {
  if (operand.is_bytes) {
    auto* const bytes = reinterpret_cast<uint8_t*>(at);
    each(loop, operand, range, register_row,
         [&](int64_t memory, int64_t place) { bytes[memory] = registers[place] != 0 ? 1 : 0; });
    return;
  }
  each(loop, operand, range, register_row,
       [&](int64_t memory, int64_t place) { at[memory] = registers[place]; });
}

}  // namespace hoist::graph::program
