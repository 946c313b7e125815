// What a block of records may hold. A reader refuses more (`corrupt`), so that a block of a few
// bytes cannot ask for more memory than this.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::records {

// Rows of a block.
inline constexpr size_t kMaxRows = size_t{1} << 16;
// Text of a block where lines are short: the writer ends a block with the last line that fits.
inline constexpr size_t kBlockText = size_t{8} << 20;
// The same where size matters most: what recurs is written once a block.
inline constexpr size_t kBestBlockText = size_t{32} << 20;
// Text of any block: a line that is longer goes into several blocks, each with a row of it.
inline constexpr size_t kMaxBlockText = size_t{64} << 20;
// Values of all columns of a block together. Lines beyond it are kept as they are.
inline constexpr size_t kMaxValues = size_t{1} << 22;
inline constexpr size_t kMaxColumns = size_t{1} << 12;
// Bytes of a column's path.
inline constexpr size_t kMaxPath = size_t{1} << 10;
inline constexpr size_t kMaxShapes = size_t{1} << 12;
// Slots of one shape.
inline constexpr size_t kMaxSlots = size_t{1} << 12;
// Slots of all shapes, and the bytes that describe shapes and columns.
inline constexpr size_t kMaxShapeSlots = size_t{1} << 18;
inline constexpr size_t kMaxHeader = size_t{16} << 20;

}  // namespace hoist::records
