#include "graph/program/move.h"

#include "array/convert.h"
#include "graph/program/places.h"

namespace hoist::graph::program {
namespace {

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
    each_place(loop, operand, range, [&](int64_t place, int64_t r, int64_t c) {
      to[r * register_row + c] = widened(from[place]);
    });
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
    each_place(loop, operand, range, [&](int64_t place, int64_t r, int64_t c) {
      to[place] = narrowed(from[r * register_row + c]);
    });
  });
}

}  // namespace hoist::graph::program
