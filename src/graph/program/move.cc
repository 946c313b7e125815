#include "graph/program/move.h"

#include <bit>

#include "array/convert.h"

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

bool lies_by_rows(const Operand& operand) {
  return operand.columns.size() == 1 && operand.columns[0] == 1;
}

}  // namespace

void widen(DType dtype, const void* from, size_t count, void* lanes) {
  if (dtype == DType::f16) {  // many at a time
    return array::convert_to_f32(dtype, static_cast<const std::byte*>(from),
                                 {static_cast<float*>(lanes), count});
  }
  with_type(dtype, [&](auto memory, auto lane, const auto& widened, const auto&) {
    const auto* const in = static_cast<const decltype(memory)*>(from);
    auto* const out = static_cast<decltype(lane)*>(lanes);
    for (size_t i = 0; i < count; ++i) out[i] = widened(in[i]);
  });
}

void narrow(DType dtype, const void* lanes, size_t count, void* to) {
  if (dtype == DType::f16) {
    return array::convert_from_f32({static_cast<const float*>(lanes), count}, dtype,
                                   static_cast<std::byte*>(to));
  }
  with_type(dtype, [&](auto memory, auto lane, const auto&, const auto& narrowed) {
    const auto* const in = static_cast<const decltype(lane)*>(lanes);
    auto* const out = static_cast<decltype(memory)*>(to);
    for (size_t i = 0; i < count; ++i) out[i] = narrowed(in[i]);
  });
}

void widen_matrix(DType dtype, const std::byte* from, int64_t row, int64_t column, size_t rows,
                  size_t columns, void* lanes) {
  with_type(dtype, [&](auto memory, auto lane, const auto& widened, const auto&) {
    const auto* const in = reinterpret_cast<const decltype(memory)*>(from);
    auto* const out = static_cast<decltype(lane)*>(lanes);
    for (size_t r = 0; r < rows; ++r) {
      const int64_t begin = static_cast<int64_t>(r) * row;
      if (column == 1) {
        widen(dtype, in + begin, columns, out + r * columns);
        continue;
      }
      for (size_t c = 0; c < columns; ++c) {
        out[r * columns + c] = widened(in[begin + static_cast<int64_t>(c) * column]);
      }
    }
  });
}

void gather_block(const Loop& loop, const Operand& operand, const std::byte* at,
                  const BlockRange& range, std::byte* registers, int64_t register_row) {
  const auto item = static_cast<int64_t>(bytes_of(operand.dtype));
  const auto lane = static_cast<int64_t>(lane_bytes(lanes_of(operand.dtype)));
  if (lies_by_rows(operand)) {
    for (int64_t r = 0; r < range.rows; ++r) {
      widen(operand.dtype, at + ((range.row + r) * operand.row + range.column) * item,
            static_cast<size_t>(range.columns), registers + r * register_row * lane);
    }
    return;
  }
  with_type(operand.dtype, [&](auto memory, auto lanes, const auto& widened, const auto&) {
    const auto* const from = reinterpret_cast<const decltype(memory)*>(at);
    auto* const to = reinterpret_cast<decltype(lanes)*>(registers);
    each(loop, operand, range, register_row,
         [&](int64_t place, int64_t i) { to[i] = widened(from[place]); });
  });
}

void scatter_block(const Loop& loop, const Operand& operand, std::byte* at, const BlockRange& range,
                   const std::byte* registers, int64_t register_row) {
  const auto item = static_cast<int64_t>(bytes_of(operand.dtype));
  const auto lane = static_cast<int64_t>(lane_bytes(lanes_of(operand.dtype)));
  if (lies_by_rows(operand)) {
    for (int64_t r = 0; r < range.rows; ++r) {
      narrow(operand.dtype, registers + r * register_row * lane, static_cast<size_t>(range.columns),
             at + ((range.row + r) * operand.row + range.column) * item);
    }
    return;
  }
  with_type(operand.dtype, [&](auto memory, auto lanes, const auto&, const auto& narrowed) {
    auto* const to = reinterpret_cast<decltype(memory)*>(at);
    const auto* const from = reinterpret_cast<const decltype(lanes)*>(registers);
    each(loop, operand, range, register_row,
         [&](int64_t place, int64_t i) { to[place] = narrowed(from[i]); });
  });
}

}  // namespace hoist::graph::program
