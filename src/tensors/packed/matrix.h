// A packed matrix (tensors/packed/layout.h) in memory, one range of bytes:
//
//   tiles        rows / 16 blocks of columns / 64 tiles each, rounded up
//   factors      u32 a row block
//   row_escapes  u32 a row and one more: where the row's escapes begin
//   escapes      u32 column, u32 bits; a row's in the order of columns
//
// Each part begins at a multiple of 256 bytes, and the size is one; what lies between is 0. Rows,
// columns and escapes say where each part lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "tensors/packed/layout.h"

namespace hoist::tensors::packed {

inline constexpr uint64_t kPartAlignment = 256;
inline constexpr uint32_t kMostRows = 1u << 30;
inline constexpr uint32_t kMostColumns = 1u << 30;

struct Shape {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t escapes = 0;

  uint32_t row_blocks() const { return (rows + kTileRows - 1) / kTileRows; }
  uint32_t row_tiles() const { return (columns + kTileColumns - 1) / kTileColumns; }
  uint64_t weights() const { return uint64_t{rows} * columns; }
  uint64_t plain_bytes() const { return 2 * weights(); }

  uint64_t tiles_bytes() const { return uint64_t{row_blocks()} * row_tiles() * kTileBytes; }
  uint64_t factors_at() const;
  uint64_t row_escapes_at() const;
  uint64_t escapes_at() const;
  uint64_t bytes() const;
};

// `invalid_argument` for more than 2^30 rows or columns, or 2^30 tiles.
Status check_extents(uint64_t rows, uint64_t columns);

// Where the parts lie, in whatever memory `bytes` is.
struct View {
  const uint16_t* tiles = nullptr;
  const uint32_t* factors = nullptr;
  const uint32_t* row_escapes = nullptr;
  const Escape* escapes = nullptr;
  Shape shape;
};

// `invalid_argument` where the size is not the shape's, or the address no multiple of 16.
Result<View> view_of(const void* bytes, uint64_t size, const Shape& shape);

// Whether what the parts say stays inside of the matrix, for a view in host memory whose bytes came
// from elsewhere: then any bytes may be unpacked and multiplied. `corrupt` says what does not.
// pack() makes nothing else, and gpu.h checks what lies on a GPU.
Status check_contents(const View& view);

// Why a matrix stays plain.
enum class Plainness : uint8_t {
  packed,        // it does not
  small,         // less than 65536 weights, or padding takes what packing saves
  many_escapes,  // more than 1 % of the weights
  crowded_row,   // more than 4 % of a row's and 64
};

// `most_in_row`: escapes of the row that has most.
Plainness plainness(const Shape& shape, uint32_t most_in_row);
// For people: "too few weights", say.
const char* reason(Plainness plainness);

}  // namespace hoist::tensors::packed
