// Patterns as Arrow's record batches, beside the lines of JSON (pattern_lines.h): the same content
// in columns.
//
//   name: string, events: list<list<string>>, frequency: uint32,
//   emotives: list<map<string, double>>, metadata: map<string, list<string>>
//
// `emotives` and `metadata` are null where a line has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "arrow/reader.h"
#include "arrow/writer.h"
#include "base/result.h"
#include "service/node/import_limit.h"
#include "service/node/node.h"

namespace hoist::service {

// Writes batches of at most 8192 patterns and, but for larger patterns, 4 MiB.
class PatternBatchWriter {
 public:
  PatternBatchWriter(bool as_file, arrow::Writer::Write write);
  ~PatternBatchWriter();

  Status begin();
  // `metadata` is JSON text, or empty. `unsupported` where a pattern has more than 256 MiB.
  Status add(const match::VisitedPattern& pattern, std::string_view metadata);
  Status end();

 private:
  struct Columns;
  Status flush();

  arrow::Writer writer_;
  std::unique_ptr<Columns> columns_;
};

// Reads what anybody wrote. Only `events` must be there. Texts, lists and numbers may be of any
// width, texts in dictionaries. Lists of structures of a `key` and a `value` are maps, as other
// libraries write them, and structures are maps without their nulls.
class PatternBatchReader {
 public:
  // `corrupt`, `unsupported`, `invalid_argument` say what is wrong; of `read` and `goes_on`, which
  // is asked before each read and within large rows, their errors.
  static Result<PatternBatchReader> open(arrow::Reader::Read read, GoesOn goes_on = {});

  // Nothing at the end.
  Result<std::optional<PatternRecord>> next();
  // Where the last call of next() was, from 1 on. Row 0: not yet at a row.
  uint64_t batch() const { return batches_; }
  uint64_t row() const { return static_cast<uint64_t>(row_); }

 private:
  PatternBatchReader(arrow::Reader reader, std::unique_ptr<ImportLimit> limit)
      : reader_(std::move(reader)), limit_(std::move(limit)) {}
  Status check_columns() const;
  const arrow::Array* column(std::string_view name) const;
  Result<PatternRecord> record(int64_t row);

  arrow::Reader reader_;
  std::unique_ptr<ImportLimit> limit_;  // the reader has its address
  const arrow::RecordBatch* batch_ = nullptr;
  uint64_t batches_ = 0;
  int64_t row_ = 0;  // of the batch, that are read
};

}  // namespace hoist::service
