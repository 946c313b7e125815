// Text of records in another format, record for record.
//
//   ConvertOptions options = {.from = TextForm::jsonl, .to = TextForm::csv, .name =
//   "trades.jsonl"}; Result<Converted> done = convert(each_text, options, write);
//
// What comes out reads as the same records, whatever they are (row_form.h). Rows are parsed and
// written on all threads. CSV needs the keys of all records first, so the text is read twice for
// it. Memory: some MiB a thread, and 64 MiB where a row is so long.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/threads.h"
#include "records/convert/row_form.h"
#include "records/reader.h"

namespace hoist::records {

// Gives the whole text, piece by piece. Each call gives the same.
using EachText = std::function<Status(const WriteText&)>;

// What becomes of a row that is no record.
enum class Unparsed : uint8_t {
  refuse,  // an error
  skip,    // it is left out, and counted
  keep,    // it becomes a record with one key, `keep_key`, and its text
};

struct ConvertOptions {
  TextForm from = TextForm::jsonl;
  TextForm to = TextForm::jsonl;
  // For CSV that is read.
  char delimiter = ',';
  bool has_header = true;                  // else keys are 0, 1, …
  std::optional<std::string> header = {};  // its row, where it is not in the text
  Unparsed unparsed = Unparsed::refuse;
  std::string keep_key = {};  // that of `lines`, too, where Unparsed::keep says so; else `line`
  // For messages: `line` 5 of `name`.
  std::string name = "the text";
  std::string line = "line";
  uint64_t first_line = 1;
  ThreadPool* pool = nullptr;  // that of the process where null
  std::stop_token stop = {};   // asks for an end: `cancelled`
};

struct Converted {
  uint64_t records = 0;
  uint64_t skipped = 0;  // rows
};

// `invalid_argument` where a row is no record, with its line.
Result<Converted> convert(const EachText& text, const ConvertOptions& options,
                          const WriteText& write);

}  // namespace hoist::records
