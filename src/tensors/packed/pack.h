// Packs bfloat16 matrices (tensors/packed/layout.h) on the CPU, and unpacks them: the same form,
// bit for bit, as tensors/packed/gpu.h makes on a GPU.
//
//   Result<Plan> plan = plan_packing({weights, rows, columns, columns});
//   if (plainness(plan->shape, plan->most_in_row) != Plainness::packed) …  // leave it plain
//   std::vector<std::byte> bytes(plan->shape.bytes());
//   Status packed = pack(matrix, *plan, bytes);
//
// Exact for every bit pattern, also of matrices that had better stay plain. All threads of the
// process's pool work. Errors: `invalid_argument` for extents (matrix.h), sizes and rows that do
// not fit; `unsupported` for 2^32 escapes and more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "tensors/packed/matrix.h"

namespace hoist::tensors::packed {

// A plain matrix: row r begins at weights + r * row_stride.
struct PlainMatrix {
  const uint16_t* weights = nullptr;
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint64_t row_stride = 0;
};

struct Plan {
  Shape shape;
  std::vector<uint8_t> bases;         // of each row block
  std::vector<uint32_t> row_escapes;  // rows + 1: where each row's begin
  uint32_t most_in_row = 0;
};

// The base, 0…127, with most weights of a row block in its window; the largest such. `counts`:
// weights of each of the 256 exponents.
uint32_t best_base(std::span<const uint32_t> counts);

Result<Plan> plan_packing(const PlainMatrix& matrix);

// `bytes`: plan.shape.bytes() at a multiple of 16. The plan is this matrix's.
Status pack(const PlainMatrix& matrix, const Plan& plan, std::span<std::byte> bytes);

// The views below are in host memory and checked (check_contents()).

// All rows, without gaps.
Status unpack(const View& view, std::span<uint16_t> weights);
// The rows of these numbers, one after the other: what an embedding looks up.
Status unpack_rows(const View& view, std::span<const int64_t> rows, std::span<uint16_t> weights);

// The rows of a block, `kTileRows` lines of row_tiles() * kTileColumns weights, padding included.
void unpack_block(const View& view, uint32_t block, uint16_t* lines);

}  // namespace hoist::tensors::packed
