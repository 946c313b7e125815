#include "arrow/metadata_read.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/core.h>

#include <cstring>
#include <string>
#include <utility>

namespace hoist::arrow {
namespace {

using flatbuffers::Table;
using flatbuffers::Verifier;

constexpr int kMostDepth = 64;
// Offsets may lead to one table, or one name, again and again.
constexpr uint32_t kMostTables = 100'000;
constexpr size_t kMostNames = 4 << 20;  // bytes

Verifier::Options limits() {
  Verifier::Options options;
  options.max_depth = UINT32_MAX;  // tables are not told when they are left: read_field() counts
  options.max_tables = kMostTables;
  return options;
}

flatbuffers::voffset_t place(int field) {
  return flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(field));
}

// Reads a flatbuffer's tables. The first fault stays; what is read after it is nothing.
class Metadata {
 public:
  explicit Metadata(std::span<const char> bytes)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())),
        verifier_(begin_, bytes.size(), limits()) {}

  const Table* root() {
    const auto offset = verifier_.VerifyOffset(size_t{0});
    if (offset == 0) return refuse();
    return start(reinterpret_cast<const Table*>(begin_ + offset));
  }

  template <typename T>
  T number(const Table* table, int field, T fallback = {}) {
    if (table == nullptr || fault_) return fallback;
    if (!table->VerifyField<T>(verifier_, place(field), sizeof(T))) {
      fault_ = true;
      return fallback;
    }
    return table->GetField<T>(place(field), fallback);
  }

  const Table* table(const Table* table, int field) { return start(pointer<Table>(table, field)); }

  std::string text(const Table* table, int field) {
    const auto* text = pointer<flatbuffers::String>(table, field);
    if (text == nullptr) return {};
    if (!verifier_.VerifyString(text) || (names_ += text->size()) > kMostNames) {
      refuse();
      return {};
    }
    return text->str();
  }

  template <typename T>
  std::vector<T> numbers(const Table* table, int field) {
    const auto* list = pointer<flatbuffers::Vector<T>>(table, field);
    std::vector<T> copy;
    if (list == nullptr) return copy;
    if (!verifier_.VerifyVector(list)) {
      refuse();
      return copy;
    }
    copy.resize(list->size());
    if (!copy.empty()) std::memcpy(copy.data(), list->Data(), copy.size() * sizeof(T));
    return copy;
  }

  std::vector<const Table*> tables(const Table* table, int field) {
    const auto* list = pointer<flatbuffers::Vector<flatbuffers::Offset<Table>>>(table, field);
    std::vector<const Table*> found;
    if (list == nullptr) return found;
    if (!verifier_.VerifyVector(list)) {
      refuse();
      return found;
    }
    for (flatbuffers::uoffset_t i = 0; i < list->size() && !fault_; ++i) {
      found.push_back(start(list->Get(i)));
    }
    if (fault_) found.clear();
    return found;
  }

  const Table* refuse() {
    fault_ = true;
    return nullptr;
  }
  bool is_faulty() const { return fault_; }

 private:
  template <typename T>
  const T* pointer(const Table* table, int field) {
    if (table == nullptr || fault_) return nullptr;
    if (!table->VerifyOffset(verifier_, place(field))) {
      fault_ = true;
      return nullptr;
    }
    return table->GetPointer<const T*>(place(field));
  }

  const Table* start(const Table* table) {
    if (table == nullptr || fault_) return nullptr;
    return table->VerifyTableStart(verifier_) ? table : refuse();
  }

  const uint8_t* begin_;
  Verifier verifier_;
  size_t names_ = 0;
  bool fault_ = false;
};

void read_type(Metadata& metadata, const Table* type, Field& field) {
  switch (field.type) {
    case Type::integer:
      field.bits = metadata.number<int32_t>(type, 0);
      field.is_signed = metadata.number<uint8_t>(type, 1) != 0;
      break;
    case Type::real:
      field.precision = metadata.number<int16_t>(type, 0);
      break;
    case Type::choice:
      field.is_dense = metadata.number<int16_t>(type, 0) != 0;
      break;
    case Type::fixed_size_list:
      field.size = metadata.number<int32_t>(type, 0);
      break;
    default:  // what else there is to a type matters to nobody who reads
      break;
  }
}

Field read_field(Metadata& metadata, const Table* table, int depth) {
  Field field;
  if (depth > kMostDepth) {
    metadata.refuse();
    return field;
  }
  field.name = metadata.text(table, 0);
  field.nullable = metadata.number<uint8_t>(table, 1) != 0;
  field.type = static_cast<Type>(metadata.number<uint8_t>(table, 2));
  read_type(metadata, metadata.table(table, 3), field);
  if (const Table* dictionary = metadata.table(table, 4)) {
    DictionaryEncoding encoding{.id = metadata.number<int64_t>(dictionary, 0)};
    if (const Table* index = metadata.table(dictionary, 1)) {
      encoding.bits = metadata.number<int32_t>(index, 0);
      encoding.is_signed = metadata.number<uint8_t>(index, 1) != 0;
    }
    field.dictionary = encoding;
  }
  for (const Table* child : metadata.tables(table, 5)) {
    field.children.push_back(read_field(metadata, child, depth + 1));
    if (metadata.is_faulty()) break;
  }
  return field;
}

Status read_schema(Metadata& metadata, const Table* schema, MessageHead& head) {
  if (metadata.number<int16_t>(schema, 0) != 0) {
    return fail(ErrorCode::unsupported, "its numbers are big-endian");
  }
  for (const Table* field : metadata.tables(schema, 1)) {
    head.fields.push_back(read_field(metadata, field, 1));
    if (metadata.is_faulty()) break;
  }
  return {};
}

Status read_batch(Metadata& metadata, const Table* batch, BatchHead& head) {
  if (batch == nullptr) metadata.refuse();
  head.rows = metadata.number<int64_t>(batch, 0);
  head.nodes = metadata.numbers<NodeRecord>(batch, 1);
  head.buffers = metadata.numbers<BufferRecord>(batch, 2);
  head.view_buffers = metadata.numbers<int64_t>(batch, 4);
  if (head.rows < 0) metadata.refuse();
  const Table* compression = metadata.table(batch, 3);
  if (compression == nullptr) return {};
  const auto codec = metadata.number<int8_t>(compression, 0);
  if (codec > 1 || codec < 0 || metadata.number<int8_t>(compression, 1) != 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("it is compressed by codec {}: LZ4 frames and Zstandard are read",
                            static_cast<int>(codec)));
  }
  head.compression = codec == 0 ? Compression::lz4 : Compression::zstd;
  return {};
}

Status read_header(Metadata& metadata, const Table* header, MessageHead& head) {
  switch (head.kind) {
    case MessageKind::schema:
      return read_schema(metadata, header, head);
    case MessageKind::dictionary:
      head.dictionary = metadata.number<int64_t>(header, 0);
      head.is_delta = metadata.number<uint8_t>(header, 2) != 0;
      return read_batch(metadata, metadata.table(header, 1), head.batch);
    case MessageKind::batch:
      return read_batch(metadata, header, head.batch);
  }
  return fail(ErrorCode::unsupported, "a message is no schema, no dictionary and no record batch");
}

}  // namespace

Result<MessageHead> read_message(std::span<const char> bytes) {
  Metadata metadata(bytes);
  const Table* message = metadata.root();
  MessageHead head;
  const auto version = metadata.number<int16_t>(message, 0);
  head.kind = static_cast<MessageKind>(metadata.number<uint8_t>(message, 1));
  const Table* header = metadata.table(message, 2);
  head.body = metadata.number<int64_t>(message, 3);
  if (!metadata.is_faulty() && version != kVersion4 && version != kVersion5) {
    return fail(ErrorCode::unsupported, "its metadata is neither of version 4 nor of version 5");
  }
  head.is_version4 = version == kVersion4;
  if (header == nullptr || head.body < 0) metadata.refuse();
  Status read = metadata.is_faulty() ? Status() : read_header(metadata, header, head);
  if (metadata.is_faulty()) return fail(ErrorCode::corrupt, "a message's metadata is damaged");
  if (!read) return read.error();
  return head;
}

}  // namespace hoist::arrow
