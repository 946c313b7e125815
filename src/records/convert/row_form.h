// The formats of text whose rows are records, each with a parser and a writer of rows:
//
//   jsonl   {"symbol":"BTC-USD","price":"117391.31","time":1755392220}
//   csv     BTC-USD,"117391.31",1755392220            behind a header with the keys
//   lt      symbol>>BTC-USD price>>"117391.31" time>>1755392220
//   lts     the same with glyphs for 20 keys: ⏱>>1755392220
//   ltu     the same with __ in front of keys: __symbol>>BTC-USD
//   sym     ⟆⟐.RAW:[§BTC-USD»price:117391.31»time:=1755392220,✓]
//
// Any text may be read as lines, each a record with one key: the line without its line feed.
//
// What a writer writes, the parser of its format reads as the same record (value.h), whatever the
// record holds; docs/reference/records-conversions.md has the rules. Rows are UTF-8 where they come
// from a writer. A parser takes any bytes. Parsers and writers are immutable: threads may share
// them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/convert/value.h"

namespace hoist::records {

// `lines` can be read alone.
enum class TextForm : uint8_t { jsonl, csv, lt, lts, ltu, sym, lines };

std::string_view name(TextForm form);
// One that can be written.
std::optional<TextForm> text_form(std::string_view name);
// One that can be read.
std::optional<TextForm> source_form(std::string_view name);

class RowParser {
 public:
  virtual ~RowParser() = default;
  // A row without its line end, into an empty record. `invalid_argument`: why it is no record.
  virtual Status parse(std::string_view row, Record& out) const = 0;
};

class RowWriter {
 public:
  virtual ~RowWriter() = default;
  // Appends the row, with a line feed. It is never blank.
  virtual void write(const Record& record, std::string& out) const = 0;
};

// For any format but csv, which needs its header (csv_form.h), and lines.
std::unique_ptr<RowParser> row_parser(TextForm form);
std::unique_ptr<RowWriter> row_writer(TextForm form);

std::unique_ptr<RowParser> pairs_row_parser(TextForm form);
std::unique_ptr<RowWriter> pairs_row_writer(TextForm form);
std::unique_ptr<RowParser> symbolic_row_parser();
std::unique_ptr<RowParser> lines_row_parser(std::string key);
std::unique_ptr<RowWriter> symbolic_row_writer();

// Why a row is no record.
inline Error no_record(std::string why) {
  return fail(ErrorCode::invalid_argument, std::move(why));
}

}  // namespace hoist::records
