#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/output_rule.h"
#include "cli/records/arrow.h"
#include "cli/records/commands.h"
#include "cli/records/converted.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;

Result<SourceOptions> source_options(const RecordForm& form, const std::string& output) {
  SourceOptions how;
  if (const std::optional<TextForm> to = text_form(form.to)) {
    how.to = *to;
  } else if (const std::optional<TextDialect> by_name = form_of_name(output);
             by_name && by_name->delimiter == ',') {
    how.to = by_name->form;
  } else if (is_arrow("", output)) {
    return fail(ErrorCode::unsupported,
                "Arrow files are made of .hrec files: run `hoist records encode`, then `hoist "
                "records columns`");
  } else {
    return fail(ErrorCode::invalid_argument,
                "no format to convert to: name it with --to, or by the end of OUT's name");
  }
  how.from = source_form(form.from);
  if (form.delimiter && (form.delimiter->size() != 1 ||
                         form.delimiter->find_first_of("\"\r\n") != std::string::npos)) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("no delimiter (--delimiter {}): it is one ASCII character, and no quote "
                    "or line end",
                    *form.delimiter));
  }
  if (form.delimiter) how.delimiter = form.delimiter->front();
  how.no_header = form.no_header;
  how.keep_key = form.keep_text.value_or("");
  how.unparsed = form.skip_unparsed ? Unparsed::skip
                 : form.keep_text   ? Unparsed::keep
                                    : Unparsed::refuse;
  how.note = [](const std::string& what) { warn(what); };
  return how;
}

void warn_of_skipped(const Converted& done) {
  if (done.skipped == 0) return;
  warn(fmt::format("{} {} left out, which {} no record{}", done.skipped,
                   done.skipped == 1 ? "row was" : "rows were", done.skipped == 1 ? "is" : "are",
                   done.skipped == 1 ? "" : "s"));
}

}  // namespace

Status write_converted(const RecordForm& form, const std::string& output, bool force,
                       const std::vector<std::string>& inputs, const ConvertRecords& convert) {
  const Result<SourceOptions> how = source_options(form, output);
  if (!how) return how.error();
  if (output == "-") {
    const Result<Converted> done = convert(*how, [](std::string_view text) {
      return write_full(STDOUT_FILENO, text.data(), text.size(), "standard output");
    });
    if (!done) return done.error();
    warn_of_skipped(*done);
    return {};
  }
  Result<OutputFile> file = OutputFile::create(output, output_rule(force, inputs));
  if (!file) return file.error();
  const Result<Converted> done = convert(*how, [&](std::string_view text) {
    return write_full(file->fd(), text.data(), text.size(), output);
  });
  if (!done) return done.error();
  warn_of_skipped(*done);
  return file->publish();
}

int convert_records_command(const ConvertRecordsOptions& options) {
  std::vector<std::string> inputs;
  if (options.input != "-") inputs.push_back(options.input);
  const Status done = write_converted(options.form, options.output, options.force, inputs,
                                      [&](const SourceOptions& how, const WriteText& write) {
                                        return convert_file(options.input, how, write);
                                      });
  return done ? kDone : report(done.error());
}

}  // namespace hoist::cli
