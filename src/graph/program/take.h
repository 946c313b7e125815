// Elements at places that an index tells.
#pragma once

#include "graph/program/fault.h"
#include "graph/program/move.h"

namespace hoist::graph::program {

// Indices, and where results are written: as lanes.
struct TakeRegisters {
  const int64_t* indices = nullptr;
  int64_t index_row = 0;
  int64_t index_column = 0;  // 0: one index for a row
  std::byte* results = nullptr;
  int64_t result_row = 0;
};

// `at`: the element of row 0, column 0 and index 0. An index outside gives 0 and sets the fault.
void take_block(const Loop& loop, const LoopStep& step, const Operand& table, const std::byte* at,
                const BlockRange& range, const TakeRegisters& registers, Fault& fault);

}  // namespace hoist::graph::program
