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
// What a reader sees: the rows up to the file's last commit, however much another process has
// written behind it by now, or had when it died (unfinished_bytes()). A file of which rows are
// lost, or may be, is `corrupt`: damage, a cut tail of a file that was written at once, no commit
// at all. OpenOptions::partial opens it all the same, for the rows that are whole from the first
// one on.
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

struct OpenOptions {
  bool partial = false;  // what is whole of a damaged file
};

class RecordReader {
 public:
  // `corrupt` where the file holds no records, or rows are lost and the options do not say that the
  // others do.
  static Result<RecordReader> open(const std::string& path, const OpenOptions& options = {});
  static Result<RecordReader> open(std::unique_ptr<container::Source> source,
                                   const OpenOptions& options = {});

  // Success, or of a file that was opened in part, what is wrong with it.
  const Status& check_whole() const { return whole_; }
  // Behind the last commit. Their rows are not seen: they were never promised to be there.
  uint64_t unfinished_bytes() const { return unfinished_bytes_; }
  // The index was damaged and made anew from the blocks: all rows are there.
  bool is_index_rebuilt() const { return is_index_rebuilt_; }

  const Dialect& dialect() const { return dialect_; }
  uint64_t rows() const { return rows_; }
  uint64_t text_bytes() const { return text_bytes_; }
  uint64_t file_size() const { return reader_->source().size(); }
  const std::string& name() const { return reader_->source().name(); }
  bool ends_with_newline() const { return ends_with_newline_; }
  // With blocks()[i].id as the number of its first row.
  std::span<const container::Block> blocks() const { return reader_->blocks().first(blocks_); }

  Result<LoadedBlock> load(size_t block) const;

  // `not_found` where a condition is about a column that no block has; an empty file has any.
  Status check_columns(std::span<const Condition> conditions) const;

  // The text of the rows that the options ask for. Blocks are decoded on all threads, some at a
  // time. Fails behind the last whole row of a damaged file, where more were asked for.
  Status text(const ReadOptions& options, const WriteText& write) const;

 private:
  explicit RecordReader(container::Reader reader)
      : reader_(std::make_shared<container::Reader>(std::move(reader))) {}

  Status check_state();
  Status check_blocks(bool partial);
  Status count_rows(bool partial);
  Error damaged(std::string_view what) const;
  // Also where rows are lost behind the block.
  Result<LoadedBlock> load_alone(size_t block) const;
  // Whether the rows that should follow the block do.
  Status check_next(size_t block, const Block& loaded) const;
  struct Piece {
    std::string text;
    Status behind;  // whether the rows behind it that the options ask for are there
  };
  // The rows that the options ask for of one block.
  Result<Piece> piece_of(size_t block, const ReadOptions& options) const;
  uint64_t end_of(size_t block) const;

  std::shared_ptr<const container::Reader> reader_;
  Dialect dialect_;
  size_t blocks_ = 0;  // that follow one another from the first row on
  Status whole_;
  uint64_t unfinished_bytes_ = 0;
  bool is_index_rebuilt_ = false;
  uint64_t rows_ = 0;
  uint64_t text_bytes_ = 0;
  bool ends_with_newline_ = true;
};

}  // namespace hoist::records
