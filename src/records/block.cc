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
  // Each row has a byte: its line feed, or of the last one something else.
  if (rows > raw_size || (rows == 0) != (raw_size == 0)) return damaged();
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
        type > static_cast<uint8_t>(ColumnType::composed) || column.values > kMaxValues - values) {
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

}  // namespace hoist::records
