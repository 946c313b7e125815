// Where the elements of an operand lie for a block, and as what type.
#pragma once

#include <bit>

#include "array/convert.h"
#include "graph/program/move.h"

namespace hoist::graph::program {

// body(element of memory, row and column of the block)
template <typename Body>
void each_place(const Loop& loop, const Operand& operand, const BlockRange& range,
                const Body& body) {
  if (operand.columns.size() == 1) {
    const int64_t stride = operand.columns[0];
    if (operand.row == 1 && stride != 1) {  // by columns: neighbours lie in one line
      for (int64_t c = 0; c < range.columns; ++c) {
        const int64_t from = range.row + (range.column + c) * stride;
        for (int64_t r = 0; r < range.rows; ++r) body(from + r, r, c);
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

// use(an element's type as it lies in memory, its lanes' type, from memory, to memory)
template <typename Use>
void with_type(DType dtype, const Use& use) {
  const auto as = [&]<typename Memory, typename Lane>(Memory, Lane) {
    use(
        Memory(), Lane(), [](Memory x) { return static_cast<Lane>(x); },
        [](Lane x) { return static_cast<Memory>(x); });
  };
  switch (dtype) {
    case DType::boolean:
      return use(
          uint8_t(), float(), [](uint8_t x) { return x != 0 ? 1.0f : 0.0f; },
          [](float x) -> uint8_t { return x != 0; });
    case DType::f16:
      return use(uint16_t(), float(), array::f16_to_f32, array::f32_to_f16);
    case DType::bf16:
      return use(uint16_t(), float(), array::bf16_to_f32,
                 [](float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); });
    case DType::f32:
      return as(float(), float());
    case DType::f64:
      return as(double(), double());
    case DType::i8:
      return as(int8_t(), int64_t());
    case DType::u8:
      return as(uint8_t(), int64_t());
    case DType::i16:
      return as(int16_t(), int64_t());
    case DType::u16:
      return as(uint16_t(), int64_t());
    case DType::i32:
      return as(int32_t(), int64_t());
    case DType::u32:
      return as(uint32_t(), int64_t());
    default:
      return as(int64_t(), int64_t());
  }
}

}  // namespace hoist::graph::program
