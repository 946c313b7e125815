#include <algorithm>
#include <utility>

#include "base/count_bytes.h"
#include "base/varint.h"
#include "records/block.h"
#include "records/block_format.h"
#include "records/column_encode.h"
#include "records/integer_stream.h"
#include "records/limits.h"

namespace hoist::records {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string head(Format format, bool ends_with_newline, size_t rows) {
  std::string out;
  out.push_back(static_cast<char>(kBlockVersion));
  out.push_back(static_cast<char>(format));
  out.push_back(static_cast<char>(ends_with_newline ? kEndsWithNewline : 0));
  write_varint(out, rows);
  return out;
}

// With the stream of the text's bytes.
std::string plain_block(std::string_view text, std::string stream, Effort effort) {
  if (effort == Effort::best) mix_small_text(bytes_of(text), stream);
  return head(Format::plain, text.ends_with('\n'), count_rows(text)) + stream;
}

std::string plain_block(std::string_view text, Effort effort) {
  std::string stream;
  encode_bytes(bytes_of(text), effort, stream);
  return plain_block(text, std::move(stream), effort);
}

void write_range(const std::optional<ColumnRange>& range, std::string& out) {
  out.push_back(range ? 1 : 0);
  if (!range) return;
  out.append(reinterpret_cast<const char*>(&range->least), sizeof range->least);
  out.append(reinterpret_cast<const char*>(&range->most), sizeof range->most);
}

std::string header_of(const Tokens& tokens, const std::vector<EncodedColumn>& columns) {
  std::vector<uint32_t> place(columns.size());
  for (uint32_t i = 0; i < columns.size(); ++i) place[columns[i].source] = i;
  std::string out;
  write_varint(out, columns.size());
  for (const EncodedColumn& column : columns) {
    const TokenColumn& source = tokens.columns[column.source];
    write_varint(out, source.path.size());
    out += source.path;
    out.push_back(static_cast<char>(source.kind));
    out.push_back(static_cast<char>(column.type));
    write_varint(out, source.values.size());
    write_varint(out, column.bytes.size());
    write_varint(out, column.text_bytes);
    write_range(column.range, out);
  }
  write_varint(out, tokens.shapes.size());
  for (const Shape& shape : tokens.shapes) write_shape(shape, place, out);
  return out;
}

// Bytes of text in columns that are no more than text.
uint64_t string_bytes(const std::vector<EncodedColumn>& columns) {
  uint64_t bytes = 0;
  for (const EncodedColumn& column : columns) {
    if (column.type == ColumnType::strings) bytes += column.text_bytes;
  }
  return bytes;
}

std::string shaped_block(const Tokens& tokens, const std::vector<EncodedColumn>& columns,
                         Effort effort) {
  std::string out = head(tokens.format, tokens.ends_with_newline, tokens.rows.size());
  const std::string header = header_of(tokens, columns);
  std::string coded;
  encode_bytes(bytes_of(header), effort, coded);
  write_varint(out, header.size());
  write_varint(out, coded.size());
  out += coded;
  const std::vector<int64_t> rows(tokens.rows.begin(), tokens.rows.end());
  encode_integers(rows, effort, out);
  for (const EncodedColumn& column : columns) out += column.bytes;
  return out;
}

// Columns that no value came to: a parser asked for them and then gave the line up.
void drop_empty_columns(Tokens& tokens) {
  std::vector<uint32_t> place(tokens.columns.size());
  std::vector<bool> used(tokens.columns.size());
  for (const Shape& shape : tokens.shapes) {
    for (const Piece& piece : shape) {
      if (piece.slot == SlotKind::none) continue;
      used[piece.column] = true;
      if (piece.slot == SlotKind::list) used[piece.lengths] = true;
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < tokens.columns.size(); ++i) {
    if (!used[i]) continue;
    place[i] = kept;
    if (kept != i) tokens.columns[kept] = std::move(tokens.columns[i]);
    ++kept;
  }
  tokens.columns.resize(kept);
  for (Shape& shape : tokens.shapes) {
    for (Piece& piece : shape) {
      piece.column = piece.slot == SlotKind::none ? 0 : place[piece.column];
      piece.lengths = piece.slot == SlotKind::list ? place[piece.lengths] : 0;
    }
  }
}

}  // namespace

size_t count_rows(std::string_view text) {
  return count_bytes(text, '\n') + (text.empty() || text.back() == '\n' ? 0 : 1);
}

std::string encode_checked_block(std::string_view text, const Dialect& dialect, Effort effort) {
  std::string stored = encode_block(text, dialect, effort);
  const Result<Block> block = Block::open(std::as_bytes(std::span(stored)), text.size());
  const Result<std::string> again = block ? block->text() : block.error();
  return again && *again == text ? stored : plain_block(text, effort);
}

std::string encode_block(std::string_view text, const Dialect& dialect, Effort effort) {
  if (dialect.format == Format::plain || text.empty()) return plain_block(text, effort);
  Tokens tokens = tokenize(text, dialect);
  if (dialect.format != Format::log && tokens.unshaped * 2 > tokens.rows.size()) {
    // This part of the text is something else.
    tokens = tokenize(text, {.format = Format::log});
  }
  drop_empty_columns(tokens);
  const std::vector<EncodedColumn> columns = encode_columns(tokens, effort);
  std::string shaped = shaped_block(tokens, columns, effort);
  // Prose has hardly any columns: as bytes it may be smaller.
  if (tokens.format != Format::log) return shaped;
  const bool is_small = shaped.size() * 8 < text.size();
  if (is_small && string_bytes(columns) * 4 < text.size()) return shaped;
  std::string plain;
  encode_bytes(bytes_of(text), effort, plain);
  // Columns are worth some bytes.
  constexpr size_t kWorth = 64;
  if (plain.size() + kWorth >= shaped.size()) return shaped;
  return plain_block(text, std::move(plain), effort);
}

}  // namespace hoist::records
