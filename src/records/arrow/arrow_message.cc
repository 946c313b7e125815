#include "records/arrow/arrow_message.h"

#include <flatbuffers/flatbuffers.h>

namespace hoist::records::arrow {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using typed::ColumnType;
using typed::ValueKind;

constexpr int16_t kVersion5 = 4;
enum class Header : uint8_t { schema = 1, dictionary = 2, batch = 3 };
enum class Type : uint8_t {
  integer = 2,
  real = 3,
  boolean = 6,
  decimal = 7,
  timestamp = 10,
  large_binary = 19,
  large_text = 20,
  large_list = 21,
};

struct Table {};  // of any kind

// A table's fields by their numbers, in the order of the schema files.
class TableBuilder {
 public:
  explicit TableBuilder(FlatBufferBuilder& builder)
      : builder_(builder), start_(builder.StartTable()) {
    builder.ForceDefaults(true);  // a field that is written is there
  }

  template <typename T>
  TableBuilder& number(int field, T value) {
    builder_.AddElement<T>(place(field), value, T());
    return *this;
  }
  template <typename T>
  TableBuilder& offset(int field, Offset<T> value) {
    if (!value.IsNull()) builder_.AddOffset(place(field), value);
    return *this;
  }
  Offset<Table> finish() { return Offset<Table>(builder_.EndTable(start_)); }

 private:
  static flatbuffers::voffset_t place(int field) {
    return flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(field));
  }

  FlatBufferBuilder& builder_;
  flatbuffers::uoffset_t start_;
};

// As the format's structs lie in memory.
struct FieldNode {
  int64_t length;
  int64_t nulls;
};
struct BufferPlace {
  int64_t offset;
  int64_t size;
};
struct BlockPlace {
  int64_t offset;
  int32_t metadata;
  int32_t unused;
  int64_t body;
};

template <typename T>
Offset<flatbuffers::Vector<const T*>> structs(FlatBufferBuilder& builder,
                                              const std::vector<T>& values) {
  builder.StartVector(values.size() * sizeof(T) / 8, 8);
  builder.PushBytes(reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T));
  return Offset<flatbuffers::Vector<const T*>>(builder.EndVector(values.size()));
}

Offset<Table> integer_type(FlatBufferBuilder& builder, int32_t bits) {
  return TableBuilder(builder).number<int32_t>(0, bits).number<uint8_t>(1, 1).finish();
}

struct MadeType {
  Type type;
  Offset<Table> table;
};

MadeType value_type(FlatBufferBuilder& builder, const ColumnType& column) {
  switch (column.kind) {
    case ValueKind::boolean:
      return {Type::boolean, TableBuilder(builder).finish()};
    case ValueKind::integer:
      return {Type::integer, integer_type(builder, 64)};
    case ValueKind::real:
      return {Type::real, TableBuilder(builder).number<int16_t>(0, 2).finish()};
    case ValueKind::decimal:
      return {Type::decimal, TableBuilder(builder)
                                 .number<int32_t>(0, typed::kMostDigits)
                                 .number<int32_t>(1, column.scale)
                                 .number<int32_t>(2, 128)
                                 .finish()};
    case ValueKind::timestamp: {
      Offset<flatbuffers::String> zone;
      if (column.is_utc) zone = builder.CreateString("UTC");
      return {
          Type::timestamp,
          TableBuilder(builder).number<int16_t>(0, column.fraction / 3).offset(1, zone).finish()};
    }
    case ValueKind::text:
      break;
  }
  return {column.is_binary ? Type::large_binary : Type::large_text, TableBuilder(builder).finish()};
}

Offset<Table> field(FlatBufferBuilder& builder, const std::string& name, bool nullable,
                    const MadeType& type, Offset<Table> dictionary,
                    const std::vector<Offset<Table>>& children) {
  const auto label = builder.CreateString(name);
  const auto inner = builder.CreateVector(children);
  return TableBuilder(builder)
      .offset(0, label)
      .number<uint8_t>(1, nullable ? 1 : 0)
      .number<uint8_t>(2, static_cast<uint8_t>(type.type))
      .offset(3, type.table)
      .offset(4, dictionary)
      .offset(5, inner)
      .finish();
}

Offset<Table> column_field(FlatBufferBuilder& builder, const ColumnType& column, int64_t number) {
  Offset<Table> dictionary;
  if (column.dictionary != nullptr) {
    const auto index = integer_type(builder, 32);
    dictionary = TableBuilder(builder).number<int64_t>(0, number).offset(1, index).finish();
  }
  const MadeType type = value_type(builder, column);
  if (!column.is_list) return field(builder, column.name, column.nullable, type, dictionary, {});
  const auto item = field(builder, "item", true, type, {}, {});
  return field(builder, column.name, true, {Type::large_list, TableBuilder(builder).finish()}, {},
               {item});
}

Offset<Table> schema(FlatBufferBuilder& builder, std::span<const ColumnType> columns) {
  std::vector<Offset<Table>> fields;
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.push_back(column_field(builder, columns[i], static_cast<int64_t>(i)));
  }
  const auto all = builder.CreateVector(fields);
  return TableBuilder(builder).number<int16_t>(0, 0).offset(1, all).finish();
}

Offset<Table> record_batch(FlatBufferBuilder& builder, const Batch& batch) {
  std::vector<FieldNode> nodes;
  for (const Batch::Node& node : batch.nodes) nodes.push_back({node.length, node.nulls});
  std::vector<BufferPlace> buffers;
  for (const Batch::Buffer& buffer : batch.buffers) buffers.push_back({buffer.offset, buffer.size});
  const auto all_nodes = structs(builder, nodes);
  const auto all_buffers = structs(builder, buffers);
  return TableBuilder(builder)
      .number<int64_t>(0, batch.rows)
      .offset(1, all_nodes)
      .offset(2, all_buffers)
      .finish();
}

std::string bytes_of(const FlatBufferBuilder& builder) {
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

std::string_view bytes_of(const int32_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// A mark, the size, and the flatbuffer, filled up such that the body begins at a multiple of 8.
std::string message(FlatBufferBuilder& builder, Header header, Offset<Table> content,
                    int64_t body) {
  builder.Finish(TableBuilder(builder)
                     .number<int16_t>(0, kVersion5)
                     .number<uint8_t>(1, static_cast<uint8_t>(header))
                     .offset(2, content)
                     .number<int64_t>(3, body)
                     .finish());
  std::string metadata = bytes_of(builder);
  metadata.resize((metadata.size() + 7) / 8 * 8);
  std::string out("\xff\xff\xff\xff");
  out += bytes_of(static_cast<int32_t>(metadata.size()));
  return out + metadata;
}

}  // namespace

std::string schema_message(std::span<const ColumnType> columns) {
  FlatBufferBuilder builder;
  const auto content = schema(builder, columns);
  return message(builder, Header::schema, content, 0);
}

std::string batch_message(const Batch& batch) {
  FlatBufferBuilder builder;
  const auto content = record_batch(builder, batch);
  return message(builder, Header::batch, content, static_cast<int64_t>(batch.body.size()));
}

std::string dictionary_message(const Batch& batch, int64_t id) {
  FlatBufferBuilder builder;
  const auto data = record_batch(builder, batch);
  const auto content = TableBuilder(builder).number<int64_t>(0, id).offset(1, data).finish();
  return message(builder, Header::dictionary, content, static_cast<int64_t>(batch.body.size()));
}

std::string footer(std::span<const ColumnType> columns, std::span<const Place> dictionaries,
                   std::span<const Place> batches) {
  FlatBufferBuilder builder;
  const auto blocks = [&](std::span<const Place> places) {
    std::vector<BlockPlace> all;
    for (const Place& place : places) all.push_back({place.offset, place.metadata, 0, place.body});
    return structs(builder, all);
  };
  const auto content = schema(builder, columns);
  const auto all_dictionaries = blocks(dictionaries);
  const auto all_batches = blocks(batches);
  builder.Finish(TableBuilder(builder)
                     .number<int16_t>(0, kVersion5)
                     .offset(1, content)
                     .offset(2, all_dictionaries)
                     .offset(3, all_batches)
                     .finish());
  std::string out = bytes_of(builder);
  out += bytes_of(static_cast<int32_t>(out.size()));
  return out += kFileBegin.substr(0, 6);
}

}  // namespace hoist::records::arrow
