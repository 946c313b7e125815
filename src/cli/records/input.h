// What encoding and appending share: the text, and what they say when it is written.
#pragma once

#include <string>

#include "base/file.h"
#include "records/writer.h"

namespace hoist::cli {

// A file, or standard input for "-".
struct Input {
  UniqueFd file;
  std::string name;
  uint64_t size = 0;  // 0: not known
  bool is_regular = false;

  int fd() const;
};
Result<Input> open_input(const std::string& name);

records::RecordOptions record_options(bool best, const std::string& format);

void print_written(const std::string& file, const records::RecordWriter& writer, bool json);

}  // namespace hoist::cli
