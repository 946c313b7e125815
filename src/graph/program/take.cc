#include "graph/program/take.h"

#include <cstring>

#include "graph/program/places.h"

namespace hoist::graph::program {
namespace {

// From the front; -1 where there is none.
int64_t place_of(int64_t index, const LoopStep& step, Fault& fault) {
  if (index >= 0 && index < step.extent) return index;
  if (index < 0 && index >= -step.extent) return index + step.extent;
  fault.set(index, step.axis, step.extent);
  return -1;
}

// One index for each row, whose elements lie one behind the other.
void take_rows(const LoopStep& step, const Operand& table, const std::byte* at,
               const BlockRange& range, const TakeRegisters& registers, Fault& fault) {
  const auto lane = static_cast<int64_t>(lane_bytes(lanes_of(table.dtype)));
  const auto columns = static_cast<size_t>(range.columns);
  for (int64_t r = 0; r < range.rows; ++r) {
    std::byte* const to = registers.results + r * registers.result_row * lane;
    const int64_t place = place_of(registers.indices[r * registers.index_row], step, fault);
    if (place < 0) {
      std::memset(to, 0, columns * static_cast<size_t>(lane));
      continue;
    }
    const int64_t element = (range.row + r) * table.row + range.column + place * step.stride;
    widen(table.dtype, at + element * table.item, columns, to);
  }
}

}  // namespace

void take_block(const Loop& loop, const LoopStep& step, const Operand& table, const std::byte* at,
                const BlockRange& range, const TakeRegisters& registers, Fault& fault) {
  if (registers.index_column == 0 && table.columns.size() == 1 && table.columns[0] == 1) {
    return take_rows(step, table, at, range, registers, fault);
  }
  with_type(table.dtype, [&]<typename E>(E) {
    const auto* const from = reinterpret_cast<const typename E::Memory*>(at);
    auto* const to = reinterpret_cast<typename E::Lane*>(registers.results);
    each_place(loop, table, range, [&](int64_t element, int64_t r, int64_t c) {
      const int64_t index = registers.indices[r * registers.index_row + c * registers.index_column];
      const int64_t place = place_of(index, step, fault);
      to[r * registers.result_row + c] =
          place < 0 ? typename E::Lane(0) : E::widened(from[element + place * step.stride]);
    });
  });
}

}  // namespace hoist::graph::program
