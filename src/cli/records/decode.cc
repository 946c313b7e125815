#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "base/file.h"
#include "base/output_file.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/records/arrow.h"
#include "cli/records/commands.h"
#include "cli/records/converted.h"
#include "cli/records/state.h"
#include "cli/report.h"
#include "records/reader.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;

// "A:B", "A:", ":B".
Status parse_rows(const std::string& text, ReadOptions& options) {
  const size_t colon = text.find(':');
  const auto number = [](std::string_view part, uint64_t& value) {
    if (part.empty()) return true;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size();
  };
  if (colon == std::string::npos ||
      !number(std::string_view(text).substr(0, colon), options.first) ||
      !number(std::string_view(text).substr(colon + 1), options.end)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no range of rows (--rows {}): write A:B for rows A to B - 1, counted "
                            "from 0; either may be left out",
                            text));
  }
  return {};
}

Status decode(const DecodeOptions& options) {
  ReadOptions read;
  if (options.rows) {
    if (Status status = parse_rows(*options.rows, read); !status) return status;
  }
  for (const std::string& text : options.where) {
    Result<Condition> condition = parse_condition(text);
    if (!condition) return condition.error();
    read.where.push_back(std::move(*condition));
  }
  // Standard output gets the text that is whole of a damaged file before the error; a file appears
  // whole.
  const Result<RecordReader> reader = RecordReader::open(
      options.file, {.partial = options.output == "-" && options.form.to.empty()});
  if (!reader) return reader.error();
  warn_of_state(*reader);
  if (Status known = reader->check_columns(read.where); !known) return known;
  if (options.form.to == "arrow") {
    if (options.form.is_asked()) {
      return fail(ErrorCode::invalid_argument,
                  "--to arrow takes the columns as they are: --from, --delimiter, --no-header, "
                  "--skip-unparsed and --keep-text go with the other formats");
    }
    return write_arrow(*reader, {.names = {}, .rows = read, .decimals = !options.floats},
                       options.output, options.force);
  }
  if (!options.form.to.empty()) {
    return write_converted(options.form, options.output, options.force, {options.file},
                           [&](SourceOptions how, const WriteText& write) {
                             how.rows = read;
                             return convert_records(*reader, how, write);
                           });
  }
  if (options.output == "-") {
    return reader->text(read, [](std::string_view text) {
      return write_full(STDOUT_FILENO, text.data(), text.size(), "standard output");
    });
  }
  Result<OutputFile> file =
      OutputFile::create(options.output, output_rule(options.force, {options.file}));
  if (!file) return file.error();
  ProgressLine line("decoding");
  read.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  const Status written = reader->text(read, [&](std::string_view text) {
    return write_full(file->fd(), text.data(), text.size(), options.output);
  });
  return written ? file->publish() : written;
}

}  // namespace

int decode_command(const DecodeOptions& options) {
  const Status decoded = decode(options);
  return decoded ? kDone : report(decoded.error());
}

}  // namespace hoist::cli
