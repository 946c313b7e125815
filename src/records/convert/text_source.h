// Where the text of a conversion comes from: a file, a pipe, memory, or a file of records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/output_file.h"
#include "base/result.h"
#include "records/convert/convert.h"
#include "records/convert/sniff.h"

namespace hoist::records {

struct SourceOptions {
  std::optional<TextForm> from = {};   // else by the name, else by the first lines
  std::optional<char> delimiter = {};  // else by the name and the first lines
  bool no_header = false;
  TextForm to = TextForm::jsonl;
  Unparsed unparsed = Unparsed::refuse;
  std::string keep_key = {};
  // Who is told where a file's name misleads (detect.h).
  std::function<void(const std::string&)> note = {};
  // Which rows of a file of records. A CSV's header is none of them.
  ReadOptions rows = {};
  std::stop_token stop = {};
};

// A file by its path; "-" is standard input, which for CSV as the target goes to a temporary file
// in $TMPDIR first. A file of records is known by its first bytes.
Result<Converted> convert_file(const std::string& path, const SourceOptions& options,
                               const WriteText& write);
Result<Converted> convert_bytes(std::string_view text, const SourceOptions& options,
                                const WriteText& write);
Result<Converted> convert_records(const RecordReader& reader, const SourceOptions& options,
                                  const WriteText& write);

}  // namespace hoist::records
