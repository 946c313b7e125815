// Copies between registers and memory whose elements do not lie one behind the other, or are bytes.
#pragma once

#include "graph/program/loop.h"

namespace hoist::graph::program {

// Rows and columns of a loop's domain.
struct BlockRange {
  int64_t row = 0;
  int64_t rows = 0;
  int64_t column = 0;
  int64_t columns = 0;
};

// `at`: the operand's element of row 0 and column 0; of bytes, too. Rows of registers lie
// `register_row` apart.
void gather_block(const Loop& loop, const Operand& operand, const float* at,
                  const BlockRange& range, float* registers, int64_t register_row);
void scatter_block(const Loop& loop, const Operand& operand, float* at, const BlockRange& range,
                   const float* registers, int64_t register_row);

}  // namespace hoist::graph::program
