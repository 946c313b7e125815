#include "records/writer.h"

#include "container/file_lock.h"
#include "container/reader.h"
#include "records/block.h"
#include "records/detect.h"
#include "records/file_format.h"
#include "records/limits.h"
#include "records/reader.h"

namespace hoist::records {
namespace {

constexpr size_t kSmallFile = size_t{64} << 10;  // bytes of text

}  // namespace

Result<RecordWriter> RecordWriter::create(const std::string& path, const RecordOptions& options) {
  if (Status status = check_output(path, options.output); !status) return status.error();
  // Before the text is read: whether somebody appends to what is replaced.
  if (const auto locked = container::lock_replaced(path); !locked) return locked.error();
  RecordWriter writer(options);
  writer.path_ = path;
  return writer;
}

Result<RecordWriter> RecordWriter::stream(int fd, const RecordOptions& options) {
  RecordWriter writer(options);
  writer.fd_ = fd;
  return writer;
}

Result<RecordWriter> RecordWriter::append(const std::string& path, const RecordOptions& options) {
  RecordWriter writer(options);
  writer.path_ = path;
  writer.appending_ = true;
  // Locked from here on, so that nobody appends between reading and writing.
  Result<container::Writer> appended =
      container::Writer::append(path, {.durable = options.durable, .limits = {}});
  if (!appended) return appended.error();
  const Result<RecordReader> reader = RecordReader::open(path);
  if (!reader) return reader.error();
  if (!reader->ends_with_newline()) {
    return fail(ErrorCode::invalid_argument,
                "the last row has no line feed, so no row can follow it (" + path +
                    "): decode it, add the line feed and encode it again");
  }
  if (reader->blocks().empty()) {
    writer.empty_.emplace(std::move(*appended));
    const Format format = reader->dialect().format;
    if (!options.format && format != Format::plain) writer.options_.format = format;
    writer.options_.output = {.replace = Replace::any};
    return writer;
  }
  writer.writer_.emplace(std::move(*appended));
  writer.dialect_ = reader->dialect();
  if (options.format) writer.dialect_.format = *options.format;
  writer.rows_ = writer.committed_rows_ = reader->rows();
  return writer;
}

Status RecordWriter::begin(std::string_view first_block) {
  dialect_ = dialect_of(first_block, {.format = options_.format,
                                      .header = options_.header,
                                      .file = options_.source,
                                      .note = options_.note});
  if (options_.header == true && dialect_.format != Format::csv) {
    return fail(ErrorCode::invalid_argument, "only CSV has a header, and this is " +
                                                 std::string(name(dialect_.format)) +
                                                 ": give the format, csv, or no header");
  }
  const container::WriterOptions options{.kind = kFileKind,
                                         .metadata = encode_dialect(dialect_),
                                         .durable = options_.durable,
                                         .output = options_.output,
                                         .lock_replaced = !empty_};
  Result<container::Writer> writer = fd_ >= 0 ? container::Writer::stream(fd_, options)
                                              : container::Writer::create(path_, options);
  if (!writer) return writer.error();
  writer_.emplace(std::move(*writer));
  return {};
}

Status RecordWriter::write_all(const ReadText& read) {
  ThreadPool& pool = options_.pool != nullptr ? *options_.pool : ThreadPool::process();
  const size_t block = options_.effort == Effort::best ? kBestBlockText : kBlockText;
  BlockCutter cutter(read, block, block * static_cast<size_t>(pool.size()));
  if (options_.commit_at_pauses) cutter.cut_at_pauses();
  for (;;) {
    const Result<std::vector<std::string_view>> blocks = cutter.next();
    if (!blocks) {
      const Status rest = appending_ ? write_batch(cutter.rest()) : Status();
      return rest ? blocks.error() : rest;
    }
    if (blocks->empty()) return {};
    if (Status status = write_batch(*blocks); !status) return status;
  }
}

Status RecordWriter::write_batch(std::span<const std::string_view> blocks) {
  if (blocks.empty()) return {};
  if (!writer_) {
    if (Status status = begin(blocks.front()); !status) return status;
  }
  if (Status status = write_blocks(blocks); !status) return status;
  return appending_ ? commit() : Status();
}

Status RecordWriter::commit() {
  if (Status status = writer_->commit(); !status) return status;
  empty_.reset();
  committed_rows_ = rows_;
  committed_text_ = text_;
  return {};
}

Status RecordWriter::write_blocks(std::span<const std::string_view> blocks) {
  ThreadPool& pool = options_.pool != nullptr ? *options_.pool : ThreadPool::process();
  std::vector<std::string> stored(blocks.size());
  // A batch of little text is all of a new file: --best takes some tens of milliseconds.
  const bool is_small_file =
      !appending_ && rows_ == 0 && blocks.size() == 1 && blocks[0].size() <= kSmallFile;
  const Effort effort = is_small_file ? Effort::best : options_.effort;
  Dialect later = dialect_;
  later.starts_with_header = false;
  pool.parallel_for(blocks.size(), [&](size_t i) {
    stored[i] = encode_checked_block(blocks[i], i == 0 ? dialect_ : later, effort);
  });
  dialect_ = later;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const container::BlockInfo info{.id = rows_,
                                    .raw_size = blocks[i].size(),
                                    .stored_size = stored[i].size(),
                                    .kind = kBlockKind,
                                    .codec = kBlockCodec};
    if (Status status = writer_->add(info, container::as_bytes(stored[i])); !status) return status;
    rows_ += count_rows(blocks[i]);
    text_ += blocks[i].size();
    if (options_.progress) options_.progress(text_);
  }
  return {};
}

Status RecordWriter::finish() {
  if (!writer_ && empty_) return {};
  if (!writer_) {
    if (Status status = begin({}); !status) return status;
  }
  return commit();
}

}  // namespace hoist::records
