#include "arrow/message.h"

#include <flatbuffers/flatbuffers.h>

#include "arrow/metadata_format.h"

namespace hoist::arrow {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

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

template <typename T>
Offset<flatbuffers::Vector<const T*>> structs(FlatBufferBuilder& builder,
                                              const std::vector<T>& values) {
  builder.StartVector(values.size() * sizeof(T) / 8, 8);
  builder.PushBytes(reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T));
  return Offset<flatbuffers::Vector<const T*>>(builder.EndVector(values.size()));
}

Offset<Table> integer_type(FlatBufferBuilder& builder, int32_t bits, bool is_signed) {
  return TableBuilder(builder)
      .number<int32_t>(0, bits)
      .number<uint8_t>(1, is_signed ? 1 : 0)
      .finish();
}

Offset<Table> type_table(FlatBufferBuilder& builder, const Field& field) {
  switch (field.type) {
    case Type::integer:
      return integer_type(builder, field.bits, field.is_signed);
    case Type::real:
      return TableBuilder(builder)
          .number<int16_t>(0, static_cast<int16_t>(field.precision))
          .finish();
    case Type::decimal:
      return TableBuilder(builder)
          .number<int32_t>(0, field.precision)
          .number<int32_t>(1, field.scale)
          .number<int32_t>(2, field.bits)
          .finish();
    case Type::timestamp: {
      Offset<flatbuffers::String> zone;
      if (!field.zone.empty()) zone = builder.CreateString(field.zone);
      return TableBuilder(builder).number<int16_t>(0, field.unit).offset(1, zone).finish();
    }
    case Type::fixed_size_list:
      return TableBuilder(builder).number<int32_t>(0, field.size).finish();
    default:
      return TableBuilder(builder).finish();
  }
}

Offset<Table> field_table(FlatBufferBuilder& builder, const Field& field) {
  std::vector<Offset<Table>> children;
  children.reserve(field.children.size());
  for (const Field& child : field.children) children.push_back(field_table(builder, child));
  Offset<Table> dictionary;
  if (field.dictionary) {
    const auto index = integer_type(builder, field.dictionary->bits, field.dictionary->is_signed);
    dictionary =
        TableBuilder(builder).number<int64_t>(0, field.dictionary->id).offset(1, index).finish();
  }
  const auto type = type_table(builder, field);
  const auto label = builder.CreateString(field.name);
  const auto inner = builder.CreateVector(children);
  return TableBuilder(builder)
      .offset(0, label)
      .number<uint8_t>(1, field.nullable ? 1 : 0)
      .number<uint8_t>(2, static_cast<uint8_t>(field.type))
      .offset(3, type)
      .offset(4, dictionary)
      .offset(5, inner)
      .finish();
}

Offset<Table> schema(FlatBufferBuilder& builder, std::span<const Field> fields) {
  std::vector<Offset<Table>> tables;
  tables.reserve(fields.size());
  for (const Field& field : fields) tables.push_back(field_table(builder, field));
  const auto all = builder.CreateVector(tables);
  return TableBuilder(builder).number<int16_t>(0, 0).offset(1, all).finish();
}

Offset<Table> record_batch(FlatBufferBuilder& builder, const Batch& batch) {
  std::vector<NodeRecord> nodes;
  for (const Batch::Node& node : batch.nodes) nodes.push_back({node.length, node.nulls});
  std::vector<BufferRecord> buffers;
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
std::string message(FlatBufferBuilder& builder, MessageKind kind, Offset<Table> content,
                    int64_t body) {
  builder.Finish(TableBuilder(builder)
                     .number<int16_t>(0, kVersion5)
                     .number<uint8_t>(1, static_cast<uint8_t>(kind))
                     .offset(2, content)
                     .number<int64_t>(3, body)
                     .finish());
  std::string metadata = bytes_of(builder);
  metadata.resize((metadata.size() + 7) / 8 * 8);
  std::string out(kMark);
  out += bytes_of(static_cast<int32_t>(metadata.size()));
  return out + metadata;
}

}  // namespace

std::string schema_message(std::span<const Field> fields) {
  FlatBufferBuilder builder;
  const auto content = schema(builder, fields);
  return message(builder, MessageKind::schema, content, 0);
}

std::string batch_message(const Batch& batch) {
  FlatBufferBuilder builder;
  const auto content = record_batch(builder, batch);
  return message(builder, MessageKind::batch, content, static_cast<int64_t>(batch.body.size()));
}

std::string dictionary_message(const Batch& batch, int64_t id, bool is_delta) {
  FlatBufferBuilder builder;
  const auto data = record_batch(builder, batch);
  const auto content = TableBuilder(builder)
                           .number<int64_t>(0, id)
                           .offset(1, data)
                           .number<uint8_t>(2, is_delta ? 1 : 0)
                           .finish();
  return message(builder, MessageKind::dictionary, content,
                 static_cast<int64_t>(batch.body.size()));
}

std::string footer(std::span<const Field> fields, std::span<const Place> dictionaries,
                   std::span<const Place> batches) {
  FlatBufferBuilder builder;
  const auto blocks = [&](std::span<const Place> places) {
    std::vector<BlockRecord> all;
    for (const Place& place : places) all.push_back({place.offset, place.metadata, 0, place.body});
    return structs(builder, all);
  };
  const auto content = schema(builder, fields);
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

}  // namespace hoist::arrow
