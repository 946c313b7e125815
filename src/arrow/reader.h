// Reads Arrow's IPC format as it comes in, batch by batch: a stream, or a file that is one behind
// its first eight bytes.
//
//   Result<Reader> reader = Reader::open(read, {.columns = {"name", "events"}});
//   while (true) {
//     const auto batch = reader->next();
//     if (!batch) return batch.error();
//     if (*batch == nullptr) break;
//     for (const Array& column : (*batch)->columns) …
//   }
//
// The bytes are nobody's in particular: whatever they are, memory stays bounded and what an Array
// answers is in the message. Columns that nobody asked for are skipped, whatever their types.
// Compressed bodies (LZ4, Zstandard) and dictionaries of texts are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/array_loader.h"
#include "arrow/metadata_read.h"
#include "base/result.h"

namespace hoist::arrow {

struct ReaderOptions {
  std::vector<std::string> columns;  // by name
  size_t most_bytes = 128 << 20;     // of a message's body, of it decompressed, of dictionaries
  // Told how many bytes each body that is looked at has, decompressed; its error ends the reading.
  std::function<Status(size_t bytes)> on_body = {};
};

struct RecordBatch {
  int64_t rows = 0;
  std::vector<Array> columns;  // those of fields()
};

class Reader {
 public:
  // Waits for bytes. 0: the end.
  using Read = std::function<Result<size_t>(std::span<char> into)>;

  // Reads the schema. `corrupt` for what is no Arrow, `unsupported` for what cannot be read; of
  // `read`, its errors.
  static Result<Reader> open(Read read, ReaderOptions options);

  // Those of the options' columns that there are, in the schema's order. Two may have one name.
  const std::vector<Field>& fields() const { return fields_; }
  // Valid until the next call. Null at the end.
  Result<const RecordBatch*> next();

 private:
  struct Column {
    Field field;  // of what is skipped
    std::optional<size_t> wanted;
  };

  Reader(Read read, ReaderOptions options) : read_(std::move(read)), options_(std::move(options)) {}
  Status read_full(std::span<char> into);
  Result<std::optional<MessageHead>> next_head();
  Result<std::string> read_body(int64_t size);
  Status read_schema();
  Status note_dictionaries(const Field& field);
  Status read_dictionary(const MessageHead& head, std::string body);
  Status read_batch(std::string body);
  Status note_body(const Body& body) const;

  Read read_;
  bool is_file_ = false;
  ReaderOptions options_;
  std::vector<Field> fields_;
  std::vector<Column> columns_;
  Dictionaries dictionaries_;
  size_t dictionary_bytes_ = 0;
  MessageHead head_;
  std::unique_ptr<Body> body_;
  RecordBatch batch_;
};

}  // namespace hoist::arrow
