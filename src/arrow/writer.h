// Record batches in Arrow's IPC format, as a stream or as a file.
//
//   Writer writer(fields, {.as_file = false}, write);
//   Status done = writer.begin();
//   if (done) done = writer.add(batch);
//   if (done) done = writer.end();
//
// Dictionaries stand before the first batch that needs them. In a file each comes once.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "arrow/message.h"
#include "base/result.h"

namespace hoist::arrow {

class Writer {
 public:
  using Write = std::function<Status(std::string_view bytes)>;

  Writer(std::vector<Field> fields, bool as_file, Write write);

  Status begin();
  Status add_dictionary(const Batch& entries, int64_t id);
  Status add(const Batch& batch);
  Status end();

 private:
  Status put(std::string_view bytes);
  Status put(std::string_view metadata, const Batch& batch, std::vector<Place>& places);

  const std::vector<Field> fields_;
  const bool as_file_;
  const Write write_;
  int64_t written_ = 0;
  std::vector<Place> dictionaries_;  // of a file
  std::vector<Place> batches_;
};

}  // namespace hoist::arrow
