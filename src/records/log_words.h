// The words of a log line, and what they look like.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hoist::records {

enum class WordKind : uint8_t {
  word,     // no digit in it
  number,   // digits, with a point in them or not
  address,  // 192.168.0.1
  date,     // 2024-01-31, with a time or without; 31/Jan/2024:13:55:36 +0000
  time,     // 13:55:36
  name,     // digits among other characters
};

// "number", "date", …: as in the names of columns.
std::string_view name(WordKind kind);

struct LogWord {
  std::string_view text;
  WordKind kind;
};

// Appends the words of the line; false where there are more than `most`.
bool split_words(std::string_view line, size_t most, std::vector<LogWord>& out);

}  // namespace hoist::records
