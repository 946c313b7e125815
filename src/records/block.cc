#include "records/block.h"

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "records/block_format.h"
#include "records/integer_stream.h"
#include "records/limits.h"

namespace hoist::records {
namespace {

Error damaged(std::string_view what = "a block of records is damaged") {
  return fail(ErrorCode::corrupt, std::string(what));
}

std::span<const std::byte> as_bytes(const std::vector<uint8_t>& bytes) {
  return std::as_bytes(std::span(bytes));
}

}  // namespace

Result<Block> Block::open(std::span<const std::byte> stored, uint64_t raw_size) {
  Block block;
  ByteReader in(stored);
  if (const auto version = in.read<uint8_t>(); in.ok() && version != kBlockVersion) {
    return fail(ErrorCode::unsupported,
                "a block of records has a newer version: this version of Hoist is too old");
  }
  const auto format = in.read<uint8_t>();
  const auto flags = in.read<uint8_t>();
  const uint64_t rows = read_varint(in);
  if (!in.ok() || format > static_cast<uint8_t>(Format::log) || flags > kEndsWithNewline ||
      rows > kMaxRows || raw_size > kMaxBlockText) {
    return damaged();
  }
  block.format_ = static_cast<Format>(format);
  block.ends_with_newline_ = flags == kEndsWithNewline;
  block.rows_ = rows;
  block.raw_size_ = raw_size;
  if (block.format_ == Format::plain) {
    block.plain_ = in.take(in.remaining());
    return block;
  }
  const uint64_t header_size = read_varint(in);
  const std::span<const std::byte> coded = in.take(read_varint(in));
  if (!in.ok() || header_size > kMaxHeader) return damaged();
  block.header_.resize(header_size);
  if (Status status = decode_bytes(coded, block.header_); !status) return status.error();
  if (Status status = block.read_header(in.take(in.remaining())); !status) return status.error();
  return block;
}

Status Block::read_columns(ByteReader& in, std::vector<uint64_t>& sizes) {
  const uint64_t count = read_varint(in);
  if (count > kMaxColumns + 1) return damaged();
  uint64_t values = 0;
  for (uint64_t i = 0; i < count; ++i) {
    BlockColumn column;
    const std::span<const std::byte> path = in.take(read_varint(in));
    column.path.assign(reinterpret_cast<const char*>(path.data()), path.size());
    const auto kind = in.read<uint8_t>();
    const auto type = in.read<uint8_t>();
    column.values = read_varint(in);
    sizes.push_back(read_varint(in));
    column.text_bytes = read_varint(in);
    if (in.read<uint8_t>() == 1) {
      const auto least = in.read<double>();
      column.range = {.least = least, .most = in.read<double>()};
    }
    if (!in.ok() || kind > static_cast<uint8_t>(ColumnKind::line) ||
        type > static_cast<uint8_t>(ColumnType::copy) || column.values > kMaxValues - values) {
      return damaged();
    }
    values += column.values;
    column.kind = static_cast<ColumnKind>(kind);
    column.type = static_cast<ColumnType>(type);
    columns_.push_back(std::move(column));
  }
  return {};
}

Status Block::read_header(std::span<const std::byte> streams) {
  ByteReader in(as_bytes(header_));
  std::vector<uint64_t> sizes;
  if (Status status = read_columns(in, sizes); !status) return status;
  const uint64_t shapes = read_varint(in);
  if (shapes > kMaxShapes + 1) return damaged();
  size_t slots = 0;
  for (uint64_t i = 0; i < shapes; ++i) {
    Result<Shape> shape = read_shape(in, columns_.size());
    if (!shape) return shape.error();
    slots += shape->size();
    if (slots > 2 * kMaxShapeSlots) return damaged();
    shapes_.push_back(std::move(*shape));
  }
  if (!in.ok() || in.remaining() > 0) return damaged();
  ByteReader rest(streams);
  const uint64_t row_size = read_varint(rest);
  rest.take(row_size);
  row_bytes_ = streams.first(rest.position());
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i].bytes = rest.take(sizes[i]);
  if (!rest.ok() || rest.remaining() > 0) return damaged();
  return {};
}

Result<std::vector<int64_t>> Block::row_shapes() const {
  ByteReader in(row_bytes_);
  Result<std::vector<int64_t>> shapes = decode_integers(in, rows_);
  if (!shapes) return shapes;
  for (const int64_t shape : *shapes) {
    if (shape < 0 || static_cast<size_t>(shape) >= shapes_.size()) return damaged();
  }
  return shapes;
}

Result<DecodedColumns> Block::decode(const std::vector<bool>& wanted) const {
  std::vector<bool> needed = wanted;
  for (size_t i = columns_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Result<std::vector<uint32_t>> sources = sources_of(columns_[i].bytes, i);
    if (!sources) return sources.error();
    for (const uint32_t source : *sources) needed[source] = true;
  }
  DecodedColumns decoded;
  decoded.reserve(columns_.size());
  // Texts of columns are parts of the block's text.
  uint64_t texts = raw_size_;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!needed[i]) {
      decoded.push_back(nullptr);
      continue;
    }
    auto column = decode_column(columns_[i].bytes, columns_[i].values, decoded, texts);
    if (!column) return column.error();
    uint64_t size = 0;
    for (const std::string_view text : (*column)->texts.strings) size += text.size();
    if (size > texts) return damaged();
    texts -= size;
    decoded.push_back(std::move(*column));
  }
  return decoded;
}

Result<std::string> Block::text() const {
  return format_ == Format::plain ? render_plain(nullptr) : render(nullptr);
}

Result<std::string> Block::text(size_t first, size_t end) const {
  end = std::min(end, rows_);
  if (first == 0 && end == rows_) return text();
  std::vector<bool> keep(rows_);
  for (size_t row = first; row < end; ++row) keep[row] = true;
  return text(keep);
}

Result<std::string> Block::text(const std::vector<bool>& keep) const {
  if (keep.size() != rows_) return fail(ErrorCode::invalid_argument, "not a flag for each row");
  return format_ == Format::plain ? render_plain(&keep) : render(&keep);
}

Result<std::string> Block::render_plain(const std::vector<bool>* keep) const {
  std::string text(raw_size_, '\0');
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(text.data()), text.size());
  if (Status status = decode_bytes(plain_, bytes); !status) return status.error();
  if (count_rows(text) != rows_) return damaged();
  if (keep == nullptr) return text;
  std::string kept;
  size_t at = 0;
  for (const bool wanted : *keep) {
    const size_t newline = text.find('\n', at);
    const size_t end = newline == std::string::npos ? text.size() : newline + 1;
    if (wanted) kept.append(text, at, end - at);
    at = end;
  }
  return kept;
}

Result<std::string> Block::render(const std::vector<bool>* keep) const {
  Result<std::vector<int64_t>> rows = row_shapes();
  if (!rows) return rows.error();
  const Result<DecodedColumns> columns = decode(std::vector<bool>(columns_.size(), true));
  if (!columns) return columns.error();
  std::vector<ColumnCursor> cursors;
  cursors.reserve(columns->size());
  for (const auto& column : *columns) cursors.emplace_back(*column);

  // Numbers are rendered in place where this much room is left.
  std::string text(raw_size_ + kMaxNumberBytes, '\0');
  char* at = text.data();
  char* const end = at + text.size();
  const auto put = [&](std::string_view literal) {
    if (static_cast<size_t>(end - at) < literal.size()) return false;
    at = std::copy(literal.begin(), literal.end(), at);
    return true;
  };
  const auto put_value = [&](uint32_t column) {
    char* value_end = cursors[column].render(at, end);
    if (value_end != nullptr) at = value_end;
    return value_end != nullptr;
  };
  const auto put_list = [&](const Piece& piece) {
    const int64_t length = cursors[piece.lengths].length();
    if (length < 1) return false;
    for (int64_t i = 0; i < length; ++i) {
      if ((i > 0 && !put(piece.separator)) || !put_value(piece.column)) return false;
    }
    return true;
  };
  for (size_t row = 0; row < rows_; ++row) {
    char* const begin = at;
    for (const Piece& piece : shapes_[static_cast<size_t>((*rows)[row])]) {
      if (!put(piece.literal)) return damaged();
      if (piece.slot == SlotKind::value && !put_value(piece.column)) return damaged();
      if (piece.slot == SlotKind::list && !put_list(piece)) return damaged();
    }
    if ((row + 1 < rows_ || ends_with_newline_) && !put("\n")) return damaged();
    if (keep != nullptr && !(*keep)[row]) at = begin;
  }
  const auto size = static_cast<size_t>(at - text.data());
  if (keep == nullptr ? size != raw_size_ : size > raw_size_) return damaged();
  for (const ColumnCursor& cursor : cursors) {
    if (!cursor.at_end()) return damaged();
  }
  text.resize(size);
  return text;
}

Result<ColumnValues> Block::read(size_t column) const {
  if (column >= columns_.size()) {
    return fail(ErrorCode::invalid_argument, "the block has no such column");
  }
  std::vector<bool> wanted(columns_.size());
  wanted[column] = true;
  for (const Shape& shape : shapes_) {
    for (const Piece& piece : shape) {
      if (piece.slot == SlotKind::list && piece.column == column) wanted[piece.lengths] = true;
    }
  }
  const Result<DecodedColumns> columns = decode(wanted);
  if (!columns) return columns.error();
  const Result<std::vector<int64_t>> rows = row_shapes();
  if (!rows) return rows.error();
  ColumnValues values{.column = (*columns)[column], .rows = {}};
  const size_t count = columns_[column].values;
  values.rows.reserve(count);
  std::vector<std::optional<ColumnCursor>> lengths(columns_.size());
  for (uint32_t row = 0; row < rows_; ++row) {
    for (const Piece& piece : shapes_[static_cast<size_t>((*rows)[row])]) {
      int64_t here = 0;
      if (piece.slot == SlotKind::value) {
        here = piece.column == column ? 1 : 0;
      } else if (piece.slot == SlotKind::list) {
        // Lists of other columns that share the lengths move them on as well.
        if (wanted[piece.lengths] && (*columns)[piece.lengths] != nullptr) {
          std::optional<ColumnCursor>& cursor = lengths[piece.lengths];
          if (!cursor) cursor.emplace(*(*columns)[piece.lengths]);
          here = cursor->length();
          if (here < 1) return damaged();
        }
        if (piece.column != column) here = piece.lengths == column ? 1 : 0;
      }
      if (static_cast<uint64_t>(here) > count - values.rows.size()) return damaged();
      values.rows.insert(values.rows.end(), static_cast<size_t>(here), row);
    }
  }
  if (values.rows.size() != count) return damaged();
  return values;
}

Block::Presence Block::presence(size_t column, std::vector<bool>& in_shape) const {
  in_shape.assign(shapes_.size(), false);
  bool each = true;
  for (size_t i = 0; i < shapes_.size(); ++i) {
    size_t slots = 0;
    for (const Piece& piece : shapes_[i]) {
      if (piece.slot == SlotKind::none) continue;
      if (piece.slot == SlotKind::list && (piece.column == column || piece.lengths == column)) {
        return Presence::several;
      }
      slots += piece.column == column ? 1 : 0;
    }
    if (slots > 1) return Presence::several;
    in_shape[i] = slots == 1;
    each &= slots == 1;
  }
  return each ? Presence::each : Presence::some;
}

Result<std::vector<std::optional<RowPlaces>>> Block::places(std::span<const size_t> columns) const {
  std::vector<std::optional<RowPlaces>> found;
  if (columns.empty()) return found;
  ByteReader in(row_bytes_);
  const std::optional<int64_t> constant = constant_integers(in);
  std::vector<int64_t> shapes;
  if (!constant) {
    Result<std::vector<int64_t>> rows = row_shapes();
    if (!rows) return rows.error();
    shapes = std::move(*rows);
  } else if (rows_ > 0 && (*constant < 0 || static_cast<size_t>(*constant) >= shapes_.size())) {
    return damaged();
  }
  std::vector<bool> in_shape;
  for (const size_t column : columns) {
    if (column >= columns_.size()) {
      return fail(ErrorCode::invalid_argument, "the block has no such column");
    }
    found.emplace_back();
    const Presence presence = this->presence(column, in_shape);
    if (presence == Presence::several) continue;
    std::vector<uint32_t>& places = found.back().emplace().places;
    const size_t values = columns_[column].values;
    const bool is_each = rows_ > 0 && (presence == Presence::each ||
                                       (constant && in_shape[static_cast<size_t>(*constant)]));
    if (is_each) {
      if (values != rows_) return damaged();
      continue;
    }
    places.reserve(rows_);
    uint32_t next = 0;
    for (size_t row = 0; row < rows_; ++row) {
      const auto shape = static_cast<size_t>(constant ? *constant : shapes[row]);
      places.push_back(in_shape[shape] ? next++ : RowPlaces::kNone);
    }
    if (next != values) return damaged();
  }
  return found;
}

}  // namespace hoist::records
