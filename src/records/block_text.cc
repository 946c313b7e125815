// From columns to the text of a block.
#include <algorithm>
#include <cstring>

#include "records/block.h"

namespace hoist::records {
namespace {

Error damaged() { return fail(ErrorCode::corrupt, "a block of records is damaged"); }

}  // namespace

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
  if (Status status = decode_text_bytes(plain_, bytes); !status) return status.error();
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

}  // namespace hoist::records
