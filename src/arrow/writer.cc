#include "arrow/writer.h"

#include <utility>

namespace hoist::arrow {

Writer::Writer(std::vector<Field> fields, bool as_file, Write write)
    : fields_(std::move(fields)), as_file_(as_file), write_(std::move(write)) {}

Status Writer::begin() {
  if (Status begun = as_file_ ? put(kFileBegin) : Status(); !begun) return begun;
  return put(schema_message(fields_));
}

Status Writer::add_dictionary(const Batch& entries, int64_t id) {
  return put(dictionary_message(entries, id), entries, dictionaries_);
}

Status Writer::add(const Batch& batch) { return put(batch_message(batch), batch, batches_); }

Status Writer::end() {
  if (Status ended = put(kStreamEnd); !ended || !as_file_) return ended;
  return put(footer(fields_, dictionaries_, batches_));
}

Status Writer::put(std::string_view bytes) {
  written_ += static_cast<int64_t>(bytes.size());
  return write_(bytes);
}

Status Writer::put(std::string_view metadata, const Batch& batch, std::vector<Place>& places) {
  if (as_file_) {
    places.push_back(
        {written_, static_cast<int32_t>(metadata.size()), static_cast<int64_t>(batch.body.size())});
  }
  if (Status status = put(metadata); !status) return status;
  return put(batch.body);
}

}  // namespace hoist::arrow
