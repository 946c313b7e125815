#include "graph/program/move.h"

#include "graph/program/places.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {
namespace {

bool lies_by_rows(const Operand& operand) {
  return operand.columns.size() == 1 && operand.columns[0] == 1;
}

}  // namespace

void widen(DType dtype, const void* from, size_t count, void* lanes) {
  typed_steps().widened[static_cast<size_t>(dtype)](from, count, lanes);
}

void narrow(DType dtype, const void* lanes, size_t count, void* to) {
  typed_steps().narrowed[static_cast<size_t>(dtype)](lanes, count, to);
}

void widen_matrix(DType dtype, const std::byte* from, int64_t row, int64_t column, size_t rows,
                  size_t columns, void* lanes) {
  with_type(dtype, [&]<typename E>(E) {
    const auto* const in = reinterpret_cast<const typename E::Memory*>(from);
    auto* const out = static_cast<typename E::Lane*>(lanes);
    for (size_t r = 0; r < rows; ++r) {
      const int64_t begin = static_cast<int64_t>(r) * row;
      if (column == 1) {
        widen(dtype, in + begin, columns, out + r * columns);
        continue;
      }
      for (size_t c = 0; c < columns; ++c) {
        out[r * columns + c] = E::widened(in[begin + static_cast<int64_t>(c) * column]);
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
  with_type(operand.dtype, [&]<typename E>(E) {
    const auto* const from = reinterpret_cast<const typename E::Memory*>(at);
    auto* const to = reinterpret_cast<typename E::Lane*>(registers);
    each_place(loop, operand, range, [&](int64_t place, int64_t r, int64_t c) {
      to[r * register_row + c] = E::widened(from[place]);
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
  with_type(operand.dtype, [&]<typename E>(E) {
    auto* const to = reinterpret_cast<typename E::Memory*>(at);
    const auto* const from = reinterpret_cast<const typename E::Lane*>(registers);
    each_place(loop, operand, range, [&](int64_t place, int64_t r, int64_t c) {
      to[place] = E::narrowed(from[r * register_row + c]);
    });
  });
}

}  // namespace hoist::graph::program
