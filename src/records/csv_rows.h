// Where the rows of a CSV end: its fields between quotes may hold line feeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::records {

class CsvRowScanner {
 public:
  explicit CsvRowScanner(char delimiter) : delimiter_(delimiter) {}
  // The place behind the line feed that ends the row; npos where the text ends before, and the next
  // call goes on with what follows it.
  size_t find_end(std::string_view text, size_t at);

 private:
  enum class State : uint8_t { field, bare, quoted, behind };
  char delimiter_;
  State state_ = State::field;
};

// The first rows without their line ends, `most` of them; empty ones are left out. The last may be
// cut off where the text is.
std::vector<std::string_view> first_csv_rows(std::string_view text, char delimiter, size_t most);

// How many lines the first row takes, in text that begins with it; 0 where it has no end in the
// first `most` of them.
size_t lines_of_first_csv_row(std::string_view text, char delimiter, size_t most);

// The text between quotes, whatever it is.
void append_csv_quoted(std::string_view text, std::string& out);

}  // namespace hoist::records
