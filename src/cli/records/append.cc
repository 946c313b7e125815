#include <fmt/format.h>

#include "cli/container/progress.h"
#include "cli/duration.h"
#include "cli/interrupts.h"
#include "cli/records/commands.h"
#include "cli/records/input.h"
#include "cli/records/pausing_input.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;
using std::chrono::milliseconds;

// What the file has of the input, for who wants to go on.
std::string kept_text(const AppendRecordsOptions& options, const RecordWriter& writer) {
  return fmt::format("{} has {} rows now, with the first {} bytes of the input", options.file,
                     writer.committed_rows(), writer.committed_text());
}

Status append(const AppendRecordsOptions& options) {
  const std::optional<milliseconds> every = parse_duration(options.commit_every);
  if (!every) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no time (--commit-every {}): {}; 0s: no time", options.commit_every,
                            kDurations));
  }
  const Result<Input> input = open_input(options.input);
  if (!input) return input.error();
  if (options.input != "-") {
    if (Status other = check_other_file(options.input, options.file); !other) return other;
  }
  ProgressLine line("appending");
  RecordOptions how = record_options(options.best, "");
  // What the rows of a file that has none yet are.
  if (options.input != "-") how.source = options.input;
  how.note = [](const std::string& what) { warn(what); };
  how.commit_at_pauses = !input->is_regular && every->count() > 0;
  how.progress = [&](uint64_t done) { line.update(done, input->size); };
  Result<RecordWriter> writer = RecordWriter::append(options.file, how);
  if (!writer) return writer.error();
  catch_interrupts();
  PausingInput text(input->fd(), input->name, how.commit_at_pauses ? *every : milliseconds(0));
  Status status = writer->write_all([&](std::span<char> into) { return text.read(into); });
  if (!status && status.error().code == ErrorCode::cancelled) {
    const uint64_t left = text.bytes() - writer->committed_text();
    warn(fmt::format(
        "stopped: {}{}", kept_text(options, *writer),
        left > 0 ? fmt::format("; {} bytes of a row that has no end yet are left out", left) : ""));
    status = {};
  } else if (status) {
    status = writer->finish();
  }
  if (!status) {
    Error error = status.error();
    error.message += "; " + kept_text(options, *writer);
    return error;
  }
  print_written(options.file, *writer, options.json);
  return {};
}

}  // namespace

int append_command(const AppendRecordsOptions& options) {
  const Status appended = append(options);
  return end_if_interrupted(appended ? kDone : report(appended.error()));
}

}  // namespace hoist::cli
