#include "records/convert/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "container/magic.h"

namespace hoist::records {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

Result<ConvertOptions> plan(const SourceOptions& options, const std::string& name,
                            const Result<TextDialect>& found) {
  if (!found && !options.from) {
    Error error = found.error();
    error.message = name + ": " + error.message;
    return error;
  }
  TextDialect dialect;
  if (found) dialect = *found;
  if (options.from && (!found || dialect.form != *options.from)) {
    dialect = {.form = *options.from};
  }
  return ConvertOptions{.from = dialect.form,
                        .to = options.to,
                        .delimiter = options.delimiter.value_or(dialect.delimiter),
                        .has_header = !options.no_header && (options.from || dialect.has_header),
                        .unparsed = options.unparsed,
                        .keep_key = options.keep_key,
                        .name = name,
                        .stop = options.stop};
}

// The first 64 lines decide, and they are in the first piece.
Result<TextDialect> dialect_of(const std::string& name, const SourceOptions& options,
                               std::string_view first) {
  if (options.from) return TextDialect{.form = *options.from};
  if (options.no_header) {
    TextDialect dialect{.form = TextForm::csv, .has_header = false};
    const Dialect detected = detect(first);
    if (detected.format == Format::csv) dialect.delimiter = detected.delimiter;
    return dialect;
  }
  if (const std::optional<TextDialect> by_name = dialect_of_name(name)) return *by_name;
  return dialect_of_text(first);
}

// A descriptor's text, from where it stands. What cannot be read twice comes from `head`, which was
// read of it before, and then from itself.
class Descriptor {
 public:
  Descriptor(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Status begin() {
    begin_ = ::lseek(fd_, 0, SEEK_CUR);
    head_.resize(kPiece);
    const Result<size_t> count = read_full(fd_, head_.data(), head_.size(), name_);
    if (!count) return count.error();
    head_.resize(*count);
    return {};
  }
  std::string_view head() const { return head_; }
  const std::string& name() const { return name_; }

  // So that it can be read twice.
  Status spool() {
    if (begin_ >= 0) return {};
    const char* folder = std::getenv("TMPDIR");
    Result<OutputFile> file =
        OutputFile::create(std::string(folder != nullptr && *folder != 0 ? folder : "/tmp") +
                               "/hoist-records-" + std::to_string(::getpid()),
                           {.replace = Replace::any});
    if (!file) return file.error();
    spool_.emplace(std::move(*file));
    const Status copied = each([&](std::string_view piece) {
      return write_full(spool_->fd(), piece.data(), piece.size(), spool_->name());
    });
    if (!copied) return copied;
    begin_ = 0;
    fd_ = spool_->fd();
    return {};
  }

  Status each(const WriteText& take) {
    if (begin_ < 0) {
      if (Status status = take(head_); !status) return status;
    } else if (::lseek(fd_, begin_, SEEK_SET) < 0) {
      return fail(ErrorCode::io, "cannot read it again (" + name_ + ")", errno);
    }
    std::vector<char> piece(kPiece);
    for (;;) {
      const Result<size_t> count = read_full(fd_, piece.data(), piece.size(), name_);
      if (!count) return count.error();
      if (*count == 0) return {};
      if (Status status = take({piece.data(), *count}); !status) return status;
    }
  }

 private:
  int fd_;
  std::string name_;
  off_t begin_ = -1;  // -1: it can be read once
  std::string head_;
  std::optional<OutputFile> spool_;
};

Result<std::string> first_rows(const RecordReader& reader) {
  std::string first;
  const Status read = reader.text({.end = 64}, [&](std::string_view text) -> Status {
    first += text;
    return {};
  });
  if (!read) return read.error();
  return first;
}

}  // namespace

Result<Converted> convert_bytes(std::string_view text, const SourceOptions& options,
                                const WriteText& write) {
  const Result<ConvertOptions> how =
      plan(options, "the text", dialect_of("", options, text.substr(0, kPiece)));
  if (!how) return how.error();
  return convert([&](const WriteText& take) { return take(text); }, *how, write);
}

Result<Converted> convert_records(const RecordReader& reader, const SourceOptions& options,
                                  const WriteText& write) {
  const Result<std::string> first = first_rows(reader);
  if (!first) return first.error();
  Result<ConvertOptions> how =
      plan(options, reader.name(), dialect_of_records(reader.dialect(), *first));
  if (!how) return how.error();
  ReadOptions rows = options.rows;
  if (how->from == TextForm::csv && how->has_header) {
    how->header = first->substr(0, first->find('\n'));
    rows.first = std::max<uint64_t>(rows.first, 1);
  }
  how->line = rows.where.empty() ? "row" : "selected row";
  how->first_line = rows.where.empty() ? rows.first : 0;
  return convert([&](const WriteText& take) { return reader.text(rows, take); }, *how, write);
}

Result<Converted> convert_file(const std::string& path, const SourceOptions& options,
                               const WriteText& write) {
  UniqueFd file;
  if (path != "-") {
    Result<UniqueFd> opened = open_file(path, O_RDONLY);
    if (!opened) return opened.error();
    file = std::move(*opened);
  }
  Descriptor text(file.valid() ? file.get() : STDIN_FILENO, file.valid() ? path : "standard input");
  if (Status begun = text.begin(); !begun) return begun.error();
  if (text.head().starts_with(container::kFileMagic)) {
    if (!file.valid()) {
      return fail(ErrorCode::unsupported,
                  "a file of records cannot be read from standard input: name the file");
    }
    const Result<RecordReader> reader = RecordReader::open(path);
    if (!reader) return reader.error();
    return convert_records(*reader, options, write);
  }
  const Result<ConvertOptions> how =
      plan(options, text.name(), dialect_of(path, options, text.head()));
  if (!how) return how.error();
  if (options.to == TextForm::csv) {
    if (Status kept = text.spool(); !kept) return kept.error();
  }
  return convert([&](const WriteText& take) { return text.each(take); }, *how, write);
}

}  // namespace hoist::records
