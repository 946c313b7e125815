#include "records/csv_rows.h"

#include <algorithm>

namespace hoist::records {

size_t CsvRowScanner::find_end(std::string_view text, size_t at) {
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (state_ == State::quoted) {
      if (c == '"') state_ = State::behind;
    } else if (c == '\n') {
      state_ = State::field;
      return at + 1;
    } else if (c == delimiter_) {
      state_ = State::field;
    } else if (c == '"' && state_ != State::bare) {
      state_ = State::quoted;
    } else {
      state_ = State::bare;
    }
  }
  return text.npos;
}

std::vector<std::string_view> first_csv_rows(std::string_view text, char delimiter, size_t most) {
  std::vector<std::string_view> rows;
  CsvRowScanner scanner(delimiter);
  for (size_t at = 0; at < text.size() && rows.size() < most;) {
    const size_t end = std::min(scanner.find_end(text, at), text.size());
    std::string_view row = text.substr(at, end - at);
    at = end;
    if (row.ends_with('\n')) row.remove_suffix(1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (!row.empty()) rows.push_back(row);
  }
  return rows;
}

size_t lines_of_first_csv_row(std::string_view text, char delimiter, size_t most) {
  const size_t end = CsvRowScanner(delimiter).find_end(text, 0);
  if (end == text.npos) return 0;
  const std::string_view row = text.substr(0, end);
  const auto lines = static_cast<size_t>(std::count(row.begin(), row.end(), '\n'));
  return lines <= most ? lines : 0;
}

void append_csv_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace hoist::records
