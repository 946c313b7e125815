// Copies between registers and memory whose elements do not lie one behind the other, or are of a
// type that lanes are not.
#pragma once

#include <cstddef>

#include "graph/program/loop.h"

namespace hoist::graph::program {

// Rows and columns of a loop's domain.
struct BlockRange {
  int64_t row = 0;
  int64_t rows = 0;
  int64_t column = 0;
  int64_t columns = 0;
};

// `at`: the operand's element of row 0 and column 0. Rows of registers lie `register_row` elements
// apart.
void gather_block(const Loop& loop, const Operand& operand, const std::byte* at,
                  const BlockRange& range, std::byte* registers, int64_t register_row);
void scatter_block(const Loop& loop, const Operand& operand, std::byte* at, const BlockRange& range,
                   const std::byte* registers, int64_t register_row);

// `count` elements one behind the other, as lanes and back.
void widen(DType dtype, const void* from, size_t count, void* lanes);
void narrow(DType dtype, const void* lanes, size_t count, void* to);
// A matrix whose rows lie `row` elements apart and whose columns `column`, row-major without gaps.
void widen_matrix(DType dtype, const std::byte* from, int64_t row, int64_t column, size_t rows,
                  size_t columns, void* lanes);

}  // namespace hoist::graph::program
