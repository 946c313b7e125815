// Encoding a stream of text into a file of records.
//
//   RecordWriter writer = RecordWriter::create("log.hrec").value();
//   Status status = writer.write_all(read);      // reads until the end, encodes on all threads
//   Status done = writer.finish();
//
// A new file appears under its name with finish(), whole. Appending (append()) commits after each
// batch: readers see whole batches while it goes on, and a crash, a full disk or a failure to read
// leaves them. A batch ends early where `read` gives less than it was asked for and
// RecordOptions::commit_at_pauses says so: rows of a slow pipe are seen then.
//
// Memory: for each thread of the pool a block of text (kBlockText, or kBestBlockText for
// Effort::best) and what encoding it takes, about 12 bytes for each byte of text: 100 MiB a thread,
// or 400. Longer lines take more, up to 12 times kMaxBlockText.
#pragma once

#include <functional>
#include <string>

#include "base/output_file.h"
#include "base/threads.h"
#include "container/writer.h"
#include "records/block_cutter.h"
#include "records/byte_stream.h"
#include "records/tokens.h"

namespace hoist::records {

struct RecordOptions {
  Effort effort = Effort::usual;
  std::optional<Format> format = std::nullopt;  // else by the file's name and the first lines
  // The name of the file that the text comes from, and who is told where it misleads (detect.h).
  std::string source = {};
  std::function<void(const std::string&)> note = {};
  // Whether a CSV's first row has the names of its columns; else by the first lines.
  // `invalid_argument` where the text is no CSV.
  std::optional<bool> header = std::nullopt;
  bool durable = true;
  OutputRule output = {.replace = Replace::any};
  bool commit_at_pauses = false;  // append()
  ThreadPool* pool = nullptr;     // that of the process where null
  // Called with the bytes of text so far.
  std::function<void(uint64_t)> progress = {};
};

class RecordWriter {
 public:
  static Result<RecordWriter> create(const std::string& path, const RecordOptions& options = {});
  // Into a pipe, which stays the caller's.
  static Result<RecordWriter> stream(int fd, const RecordOptions& options = {});
  // Goes on behind the last row. `invalid_argument` where the last row has no line feed: the next
  // one would begin inside it. A file without rows is replaced with the first commit: what it holds
  // is known only now.
  static Result<RecordWriter> append(const std::string& path, const RecordOptions& options = {});

  // Where `read` fails while appending, the whole lines before that are committed.
  Status write_all(const ReadText& read);
  Status finish();

  const Dialect& dialect() const { return dialect_; }
  uint64_t rows() const { return rows_; }        // those of before included
  uint64_t text_bytes() const { return text_; }  // of this writer
  uint64_t size() const { return writer_ ? writer_->size() : empty_ ? empty_->size() : 0; }
  // What the last commit has of them.
  uint64_t committed_rows() const { return committed_rows_; }
  uint64_t committed_text() const { return committed_text_; }

 private:
  explicit RecordWriter(const RecordOptions& options) : options_(options) {}

  // The container's metadata says what the first block is: the file begins with it.
  Status begin(std::string_view first_block);
  Status write_batch(std::span<const std::string_view> blocks);
  Status commit();
  Status write_blocks(std::span<const std::string_view> blocks);

  RecordOptions options_;
  std::string path_;
  int fd_ = -1;
  bool appending_ = false;
  std::optional<container::Writer> writer_;
  std::optional<container::Writer> empty_;  // keeps others from a file that is to be replaced
  Dialect dialect_;
  uint64_t rows_ = 0;
  uint64_t text_ = 0;
  uint64_t committed_rows_ = 0;
  uint64_t committed_text_ = 0;
};

}  // namespace hoist::records
