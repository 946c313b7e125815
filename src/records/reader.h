// Reading a file of records: any rows as text, any column of any block as values.
//
//   Result<RecordReader> reader = RecordReader::open("log.hrec");
//   Status status = reader->text(1000, 2000, write);             // rows 1000 to 1999
//   Result<LoadedBlock> block = reader->load(0);
//   Result<ColumnValues> prices = block->block().read(3);
//   ColumnCursor cursor(*prices->column);                         // text() or number()
//
// Rows are lines: the text between two line feeds. A line longer than kMaxBlockText counts as
// several rows.
//
// A reader is immutable, and blocks are independent: any number of threads may load and decode.
// Memory: a block's stored bytes, which lie in the file, and what records/block.h states, for each
// thread that decodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/threads.h"
#include "container/reader.h"
#include "records/block.h"
#include "records/filter.h"
#include "records/tokens.h"

namespace hoist::records {

// A block with the bytes that it points into.
class LoadedBlock {
 public:
  LoadedBlock(container::BlockBytes stored, Block block)
      : stored_(std::move(stored)), block_(std::move(block)) {}
  const Block& block() const { return block_; }

 private:
  container::BlockBytes stored_;
  Block block_;
};

// Takes text in the order of its rows; an error ends the reading.
using WriteText = std::function<Status(std::string_view)>;

struct ReadOptions {
  uint64_t first = 0;  // rows
  uint64_t end = UINT64_MAX;
  std::vector<Condition> where = {};  // that all hold
  ThreadPool* pool = nullptr;
  // Called with the bytes of text done and in all.
  std::function<void(uint64_t, uint64_t)> progress = {};
};

class RecordReader {
 public:
  // `corrupt` where the file holds no records, or its blocks do not follow one another.
  static Result<RecordReader> open(const std::string& path);
  static Result<RecordReader> open(std::unique_ptr<container::Source> source);

  const Dialect& dialect() const { return dialect_; }
  uint64_t rows() const { return rows_; }
  uint64_t text_bytes() const { return text_bytes_; }
  uint64_t file_size() const { return reader_->source().size(); }
  const std::string& name() const { return reader_->source().name(); }
  container::IndexState state() const { return reader_->state(); }
  bool ends_with_newline() const { return ends_with_newline_; }
  // With blocks()[i].id as the number of its first row.
  std::span<const container::Block> blocks() const { return reader_->blocks(); }

  Result<LoadedBlock> load(size_t block) const;

  // The text of the rows that the options ask for. Blocks are decoded on all threads, some at a
  // time.
  Status text(const ReadOptions& options, const WriteText& write) const;

 private:
  explicit RecordReader(container::Reader reader)
      : reader_(std::make_shared<container::Reader>(std::move(reader))) {}

  Status check_blocks();
  // The rows that the options ask for of one block.
  Result<std::string> text_of(size_t block, const ReadOptions& options) const;
  uint64_t end_of(size_t block) const;

  std::shared_ptr<const container::Reader> reader_;
  Dialect dialect_;
  uint64_t rows_ = 0;
  uint64_t text_bytes_ = 0;
  bool ends_with_newline_ = true;
};

}  // namespace hoist::records
