// A block: some MiB of text as shapes and columns, by itself.
//
//   std::string stored = encode_block(text, dialect, {});
//   Result<Block> block = Block::open(stored, text.size());
//   Result<std::string> again = block->text();       // the same bytes
//
// Encoding takes any bytes, up to kMaxBlockText and kMaxRows lines. Stored bytes are untrusted:
// what is damaged is `corrupt`, and memory stays within the limits of limits.h: about 17 bytes for
// each of kMaxValues values and each byte of the text, 200 MiB at the very most.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/byte_stream.h"
#include "records/column.h"
#include "records/tokens.h"

namespace hoist::records {

// Lines of `text`: the last one may end without a line feed.
size_t count_rows(std::string_view text);

std::string encode_block(std::string_view text, const Dialect& dialect, Effort effort);

// The same, decoded and compared before it is given: as plain bytes where the text does not come
// back. That does not happen as far as is known; it is what files of records promise.
std::string encode_checked_block(std::string_view text, const Dialect& dialect, Effort effort);

// A column as the block's header describes it.
struct BlockColumn {
  std::string path;
  ColumnKind kind = ColumnKind::bare;
  ColumnType type = ColumnType::constant;
  size_t values = 0;
  uint64_t text_bytes = 0;
  std::optional<ColumnRange> range;
  std::span<const std::byte> bytes;
};

// Values of a column, each with its row in the block.
struct ColumnValues {
  std::shared_ptr<const DecodedColumn> column;
  std::vector<uint32_t> rows;  // ascending; a row may have several values
};

// Where the value of each row lies in a column that has at most one a row.
struct RowPlaces {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> places;  // empty: row i has value i
};

class Block {
 public:
  // The stored bytes must outlive the block. `raw_size` is that of its text.
  static Result<Block> open(std::span<const std::byte> stored, uint64_t raw_size);

  Format format() const { return format_; }
  size_t rows() const { return rows_; }
  bool ends_with_newline() const { return ends_with_newline_; }
  uint64_t raw_size() const { return raw_size_; }
  // None where the format is plain.
  std::span<const BlockColumn> columns() const { return columns_; }
  size_t shapes() const { return shapes_.size(); }

  // The whole text.
  Result<std::string> text() const;
  // Rows first to end - 1.
  Result<std::string> text(size_t first, size_t end) const;
  // The rows that `keep` is true for; it has as many entries as there are rows.
  Result<std::string> text(const std::vector<bool>& keep) const;

  Result<ColumnValues> read(size_t column) const;
  // The same for several: what they are made from is decoded once.
  Result<std::vector<ColumnValues>> read(std::span<const size_t> columns) const;

  // Where the values of these columns lie, without decoding them. Nothing where a row may have
  // several.
  Result<std::vector<std::optional<RowPlaces>>> places(std::span<const size_t> columns) const;

 private:
  Status read_header(std::span<const std::byte> header);
  Status read_columns(ByteReader& in, std::vector<uint64_t>& sizes);
  Result<DecodedColumns> decode(const std::vector<bool>& wanted) const;
  Result<std::vector<int64_t>> row_shapes() const;
  Result<std::vector<uint32_t>> rows_of_several(size_t column, const DecodedColumns& columns) const;
  // Whether each row has exactly one value of the column by its shape, some have one, or several.
  enum class Presence : uint8_t { each, some, several };
  Presence presence(size_t column, std::vector<bool>& in_shape) const;
  Result<std::string> render(const std::vector<bool>* keep) const;
  Result<std::string> render_plain(const std::vector<bool>* keep) const;

  Format format_ = Format::plain;
  bool ends_with_newline_ = false;
  size_t rows_ = 0;
  uint64_t raw_size_ = 0;
  std::vector<uint8_t> header_;  // shapes and names point into it
  std::vector<Shape> shapes_;
  std::vector<BlockColumn> columns_;
  std::span<const std::byte> row_bytes_;  // the sequence of shapes
  std::span<const std::byte> plain_;
};

}  // namespace hoist::records
