// The shapes of a block: what its lines have in common. A shape is a line with slots in the place
// of values: literal bytes, a slot, literal bytes, … Lines of the same shape differ in their values
// only.
//
//   {"price": 1.5, "tags": ["a","b"]}   ->   {"price": ◻, "tags": ["▤"]}
//
// A slot ◻ takes one value from its column. A slot ▤ takes a number from a column of lengths, at
// least 1, and so many elements from a column of elements, with a separator between them (`","`
// above).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hoist::records {

enum class SlotKind : uint8_t { none, value, list };

// Literal bytes and the slot behind them; the last piece of a shape has none.
struct Piece {
  std::string_view literal = {};
  SlotKind slot = SlotKind::none;
  uint32_t column = 0;              // of values or elements
  uint32_t lengths = 0;             // of a list
  std::string_view separator = {};  // of a list
  uint8_t scan = 0;                 // how a tokenizer finds the value's end; not written
};

using Shape = std::vector<Piece>;

// Writes a shape as in docs/reference/hrec.md; `column_of` gives the numbers to be written.
void write_shape(const Shape& shape, std::span<const uint32_t> column_of, std::string& out);

// Literals point into the reader's bytes. `corrupt` where a column is not below `columns`, or the
// shape has more than kMaxSlots.
Result<Shape> read_shape(ByteReader& in, size_t columns);

}  // namespace hoist::records
