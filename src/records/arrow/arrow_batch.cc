#include "records/arrow/arrow_batch.h"

#include "arrow/batch_builder.h"

namespace hoist::records::arrow {
namespace {

using hoist::arrow::BatchBuilder;
using hoist::arrow::Type;
using typed::ColumnChunk;
using typed::ColumnType;
using typed::ValueKind;

void add_values(BatchBuilder& builder, const ColumnChunk& chunk, const ColumnType& type) {
  builder.node(chunk.valid);
  switch (type.kind) {
    case ValueKind::boolean:
      return builder.bits(chunk.integers);
    case ValueKind::real:
      return builder.buffer(chunk.reals);
    case ValueKind::decimal:
      return builder.buffer(chunk.decimals);
    case ValueKind::text:
      if (type.dictionary != nullptr) {
        return builder.buffer(std::vector<int32_t>(chunk.integers.begin(), chunk.integers.end()));
      }
      builder.buffer(chunk.offsets);
      return builder.buffer(std::string_view(chunk.bytes));
    default:
      return builder.buffer(chunk.integers);
  }
}

Field value_field(std::string name, const ColumnType& column) {
  Field field{.name = std::move(name), .nullable = column.nullable};
  switch (column.kind) {
    case ValueKind::boolean:
      field.type = Type::boolean;
      break;
    case ValueKind::integer:
      field.type = Type::integer;
      break;
    case ValueKind::real:
      field.type = Type::real;
      field.precision = 2;
      break;
    case ValueKind::decimal:
      field.type = Type::decimal;
      field.precision = typed::kMostDigits;
      field.scale = column.scale;
      field.bits = 128;
      break;
    case ValueKind::timestamp:
      field.type = Type::timestamp;
      field.unit = column.fraction / 3;
      field.zone = column.is_utc ? "UTC" : "";
      break;
    case ValueKind::text:
      field.type = column.is_binary ? Type::large_binary : Type::large_text;
      break;
  }
  return field;
}

Field column_field(const ColumnType& column, int64_t number) {
  if (!column.is_list) {
    Field field = value_field(column.name, column);
    if (column.dictionary != nullptr) field.dictionary = {.id = number};
    return field;
  }
  Field item = value_field("item", column);
  item.nullable = true;
  Field list{.name = column.name, .type = Type::large_list};
  list.children.push_back(std::move(item));
  return list;
}

}  // namespace

std::vector<Field> fields_of(std::span<const ColumnType> columns) {
  std::vector<Field> fields;
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.push_back(column_field(columns[i], static_cast<int64_t>(i)));
  }
  return fields;
}

Batch make_batch(const typed::SelectedBlock& block, std::span<const ColumnType> columns) {
  BatchBuilder builder(block.rows);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_list) {
      builder.node(block.columns[i].list_valid);
      builder.buffer(block.columns[i].lists);
    }
    add_values(builder, block.columns[i], columns[i]);
  }
  return builder.take();
}

Batch make_dictionary(const typed::TextDictionary& dictionary) {
  BatchBuilder builder(dictionary.entries.size());
  builder.node(dictionary.entries.size());
  std::vector<int64_t> offsets = {0};
  std::string bytes;
  for (const std::string& entry : dictionary.entries) {
    bytes += entry;
    offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
  builder.buffer(offsets);
  builder.buffer(std::string_view(bytes));
  return builder.take();
}

}  // namespace hoist::records::arrow
