#include "records/shape.h"

#include "base/varint.h"
#include "records/limits.h"

namespace hoist::records {
namespace {

void write_text(std::string& out, std::string_view text) {
  write_varint(out, text.size());
  out.append(text);
}

std::string_view read_text(ByteReader& in) {
  const auto bytes = in.take(read_varint(in));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void write_shape(const Shape& shape, std::span<const uint32_t> column_of, std::string& out) {
  for (const Piece& piece : shape) {
    write_text(out, piece.literal);
    switch (piece.slot) {
      case SlotKind::none:
        write_varint(out, 0);
        break;
      case SlotKind::value:
        write_varint(out, 1 + 2 * uint64_t{column_of[piece.column]});
        break;
      case SlotKind::list:
        write_varint(out, 2 + 2 * uint64_t{column_of[piece.column]});
        write_varint(out, column_of[piece.lengths]);
        write_text(out, piece.separator);
        break;
    }
  }
}

Result<Shape> read_shape(ByteReader& in, size_t columns) {
  const Error damaged = fail(ErrorCode::corrupt, "a shape of the block is damaged");
  Shape shape;
  for (;;) {
    Piece piece;
    piece.literal = read_text(in);
    const uint64_t tag = read_varint(in);
    if (!in.ok()) return damaged;
    if (tag == 0) {
      shape.push_back(piece);
      return shape;
    }
    if (shape.size() == kMaxSlots || (tag - 1) / 2 >= columns) return damaged;
    piece.slot = tag % 2 == 1 ? SlotKind::value : SlotKind::list;
    piece.column = static_cast<uint32_t>((tag - 1) / 2);
    if (piece.slot == SlotKind::list) {
      const uint64_t lengths = read_varint(in);
      piece.separator = read_text(in);
      if (!in.ok() || lengths >= columns) return damaged;
      piece.lengths = static_cast<uint32_t>(lengths);
    }
    shape.push_back(piece);
  }
}

}  // namespace hoist::records
