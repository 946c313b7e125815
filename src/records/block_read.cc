// Columns of a block, decoded, and the rows of their values.
#include <algorithm>
#include <numeric>

#include "records/block.h"
#include "records/column_composer.h"
#include "records/integer_stream.h"

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a block of records is damaged"); }

}  // namespace

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
  std::unique_ptr<ColumnComposer> composer;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!needed[i]) {
      decoded.push_back(nullptr);
      continue;
    }
    auto column = decode_column(columns_[i].bytes, columns_[i].values, decoded, texts);
    if (column && (*column)->type == ColumnType::composed) {
      if (composer == nullptr) {
        const Result<std::vector<int64_t>> rows = row_shapes();
        if (!rows) return rows.error();
        composer = std::make_unique<ColumnComposer>(shapes_, *rows, columns_.size());
      }
      column = composer->compose(i, columns_[i].bytes, **column, decoded, texts);
    }
    if (!column) return column.error();
    uint64_t size = 0;
    for (const std::string_view text : (*column)->texts.strings) size += text.size();
    if (size > texts) return damaged();
    texts -= size;
    decoded.push_back(std::move(*column));
  }
  return decoded;
}

Result<ColumnValues> Block::read(size_t column) const {
  Result<std::vector<ColumnValues>> values = read(std::span(&column, 1));
  if (!values) return values.error();
  return std::move(values->front());
}

Result<std::vector<ColumnValues>> Block::read(std::span<const size_t> columns) const {
  const Result<std::vector<std::optional<RowPlaces>>> places = this->places(columns);
  if (!places) return places.error();
  std::vector<bool> wanted(columns_.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    wanted[columns[i]] = true;
    if ((*places)[i]) continue;
    for (const Shape& shape : shapes_) {
      for (const Piece& piece : shape) {
        const bool is_list = piece.slot == SlotKind::list && piece.column == columns[i];
        if (is_list) wanted[piece.lengths] = true;
      }
    }
  }
  const Result<DecodedColumns> decoded = decode(wanted);
  if (!decoded) return decoded.error();
  std::vector<ColumnValues> values;
  for (size_t i = 0; i < columns.size(); ++i) {
    ColumnValues& column = values.emplace_back();
    column.column = (*decoded)[columns[i]];
    if (!(*places)[i]) {
      Result<std::vector<uint32_t>> rows = rows_of_several(columns[i], *decoded);
      if (!rows) return rows.error();
      column.rows = std::move(*rows);
      continue;
    }
    const std::vector<uint32_t>& place = (*places)[i]->places;
    column.rows.resize(columns_[columns[i]].values);
    if (place.empty()) {
      std::iota(column.rows.begin(), column.rows.end(), 0);
    } else {
      for (uint32_t row = 0; row < place.size(); ++row) {
        if (place[row] != RowPlaces::kNone) column.rows[place[row]] = row;
      }
    }
  }
  return values;
}

// The rows of a column that may have several values a row.
Result<std::vector<uint32_t>> Block::rows_of_several(size_t column,
                                                     const DecodedColumns& columns) const {
  const Result<std::vector<int64_t>> shapes = row_shapes();
  if (!shapes) return shapes.error();
  const size_t count = columns_[column].values;
  std::vector<uint32_t> found;
  found.reserve(count);
  std::vector<std::optional<ColumnCursor>> lengths(columns_.size());
  for (uint32_t row = 0; row < rows_; ++row) {
    for (const Piece& piece : shapes_[static_cast<size_t>((*shapes)[row])]) {
      int64_t here = 0;
      if (piece.slot == SlotKind::value) {
        here = piece.column == column ? 1 : 0;
      } else if (piece.slot == SlotKind::list) {
        // Lists of other columns that share the lengths move them on as well.
        if (columns[piece.lengths] != nullptr) {
          std::optional<ColumnCursor>& cursor = lengths[piece.lengths];
          if (!cursor) cursor.emplace(*columns[piece.lengths]);
          here = cursor->length();
          if (here < 1) return damaged();
        }
        if (piece.column != column) here = piece.lengths == column ? 1 : 0;
      }
      if (static_cast<uint64_t>(here) > count - found.size()) return damaged();
      found.insert(found.end(), static_cast<size_t>(here), row);
    }
  }
  if (found.size() != count) return damaged();
  return found;
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
