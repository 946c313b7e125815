#include "records/convert/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "container/magic.h"
#include "records/convert/characters.h"
#include "records/convert/csv_form.h"
#include "records/convert/row_chunks.h"
#include "records/csv_dialect.h"

namespace hoist::records {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

ConvertOptions plan(const SourceOptions& options, const std::string& name,
                    const TextDialect& dialect) {
  return {.from = dialect.form,
          .to = options.to,
          .delimiter = options.delimiter.value_or(dialect.delimiter),
          .has_header = dialect.has_header,
          .unparsed = options.unparsed,
          .keep_key = options.keep_key,
          .name = name,
          .stop = options.stop};
}

// What the options say, if they do. `delimiter` is the likely one of a CSV.
std::optional<TextDialect> dialect_of_options(const SourceOptions& options, std::string_view first,
                                              char delimiter) {
  if (!options.from && !options.no_header) return std::nullopt;
  TextDialect dialect{.form = options.from.value_or(TextForm::csv),
                      .has_header = !options.no_header};
  if (dialect.form == TextForm::csv) {
    dialect.delimiter = CsvSample(first).find_delimiter(delimiter);
  }
  return dialect;
}

// The first 64 lines decide, and they are in the first piece.
Result<TextDialect> dialect_of(const std::string& name, const SourceOptions& options,
                               std::string_view first) {
  const std::optional<TextDialect> by_name = form_of_name(name);
  const char delimiter = by_name ? by_name->delimiter : ',';
  if (const auto said = dialect_of_options(options, first, delimiter)) return *said;
  return dialect_of_file(name, first, options.note);
}

Error with_name(const std::string& name, Error error) {
  error.message = name + ": " + error.message;
  return error;
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
  const Status read = reader.text({.end = kSampleLines}, [&](std::string_view text) -> Status {
    first += text;
    return {};
  });
  if (!read) return read.error();
  if (first.starts_with(kByteOrderMark)) first.erase(0, kByteOrderMark.size());
  return first;
}

Result<TextDialect> dialect_of(const RecordReader& reader, const SourceOptions& options,
                               std::string_view first) {
  const char delimiter = reader.dialect().format == Format::csv ? reader.dialect().delimiter : ',';
  if (const auto said = dialect_of_options(options, first, delimiter)) return *said;
  return dialect_of_records(reader.dialect(), first);
}

std::string row_of(const std::vector<std::string>& names, char delimiter) {
  std::string row;
  for (const std::string& name : names) {
    if (&name != &names.front()) row += delimiter;
    append_csv_quoted(name, row);
  }
  return row;
}

// Takes the header out of the rows: `first` begins with it.
void take_header(const RecordReader& reader, std::string_view first, ConvertOptions& how,
                 ReadOptions& rows) {
  if (reader.dialect().header_lost) {
    how.header = row_of(reader.dialect().names, how.delimiter);
    return;
  }
  const RowRules rules{.form = TextForm::csv, .delimiter = how.delimiter};
  (void)for_rows(first, rules, [&](std::string_view row, uint64_t line) -> Status {
    how.header = row;
    const auto more = static_cast<uint64_t>(std::count(row.begin(), row.end(), '\n'));
    rows.first = std::max(rows.first, line + more + 1);
    return fail(ErrorCode::cancelled, {});  // one is enough
  });
}

}  // namespace

Result<Converted> convert_bytes(std::string_view text, const SourceOptions& options,
                                const WriteText& write) {
  const std::string name = "the text";
  const Result<TextDialect> dialect = dialect_of("", options, text.substr(0, kPiece));
  if (!dialect) return with_name(name, dialect.error());
  return convert([&](const WriteText& take) { return take(text); }, plan(options, name, *dialect),
                 write);
}

Result<Converted> convert_records(const RecordReader& reader, const SourceOptions& options,
                                  const WriteText& write) {
  const Result<std::string> first = first_rows(reader);
  if (!first) return first.error();
  const Result<TextDialect> dialect = dialect_of(reader, options, *first);
  if (!dialect) return with_name(reader.name(), dialect.error());
  ConvertOptions how = plan(options, reader.name(), *dialect);
  ReadOptions rows = options.rows;
  if (how.from == TextForm::csv && how.has_header) take_header(reader, *first, how, rows);
  how.line = rows.where.empty() ? "row" : "selected row";
  how.first_line = rows.where.empty() ? rows.first : 0;
  return convert([&](const WriteText& take) { return reader.text(rows, take); }, how, write);
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
  const Result<TextDialect> dialect = dialect_of(path, options, text.head());
  if (!dialect) return with_name(text.name(), dialect.error());
  const ConvertOptions how = plan(options, text.name(), *dialect);
  if (options.to == TextForm::csv) {
    if (Status kept = text.spool(); !kept) return kept.error();
  }
  return convert([&](const WriteText& take) { return text.each(take); }, how, write);
}

}  // namespace hoist::records
