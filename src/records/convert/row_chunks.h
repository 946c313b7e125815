// Cuts a stream of text into chunks of whole rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/convert/row_form.h"
#include "records/csv_rows.h"

namespace hoist::records {

struct RowChunk {
  std::string text;
  uint64_t first_line = 0;  // the number of its first line, counted from 0
};

struct RowRules {
  TextForm form = TextForm::jsonl;
  char delimiter = ',';
  size_t most_bytes = size_t{1} << 20;  // of a chunk, but for a row that is longer
  size_t most_rows = SIZE_MAX;
};

// Holds a row at most, which may have kMaxBlockText bytes. Pieces end where they like.
class RowCutter {
 public:
  explicit RowCutter(const RowRules& rules) : rules_(rules), scanner_(rules.delimiter) {}

  // Adds the chunks that the piece completes. `unsupported` where a row is too long.
  Status take(std::string_view piece, std::vector<RowChunk>& chunks);
  // The rest, whose last row may have no line feed.
  void finish(std::vector<RowChunk>& chunks);

 private:
  size_t find_row_end();
  void cut(size_t end, std::vector<RowChunk>& chunks);

  RowRules rules_;
  CsvRowScanner scanner_;
  std::string text_;
  size_t begin_ = 0;    // of the next chunk
  size_t row_ = 0;      // the end of its last whole row
  size_t scanned_ = 0;  // no row ends between row_ and here
  size_t rows_ = 0;     // of the chunk
  uint64_t lines_ = 0;  // before the chunk
  bool started_ = false;
};

// take(row, line) for each row that is not blank, and all of `lines`, without its line end; `line`
// is the number of its first line in the text, from 0. Ends where take gives an error.
template <typename Take>
Status for_rows(std::string_view text, const RowRules& rules, const Take& take) {
  CsvRowScanner scanner(rules.delimiter);
  uint64_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t found =
        rules.form == TextForm::csv ? scanner.find_end(text, at) : text.find('\n', at) + 1;
    const size_t end = found == text.npos || found == 0 ? text.size() : found;
    std::string_view row = text.substr(at, end - at);
    const uint64_t first = line;
    for (size_t i = 0; (i = row.find('\n', i)) != row.npos; ++i) ++line;
    at = end;
    if (row.ends_with('\n')) row.remove_suffix(1);
    const std::string_view blanks = rules.form == TextForm::csv ? "\r" : " \t\r\v\f";
    const bool is_blank = row.find_first_not_of(blanks) == row.npos;
    if (is_blank && rules.form != TextForm::lines) continue;
    if (Status taken = take(row, first); !taken) return taken;
  }
  return {};
}

}  // namespace hoist::records
