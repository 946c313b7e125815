#include <fmt/format.h>

#include <charconv>

#include "cli/container/progress.h"
#include "cli/interrupts.h"
#include "cli/records/commands.h"
#include "cli/records/input.h"
#include "cli/records/pausing_input.h"
#include "cli/report.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;
using std::chrono::milliseconds;

// "5s", "200ms", "2min".
Result<milliseconds> parse_time(const std::string& text) {
  struct Unit {
    std::string_view name;
    double milliseconds;
  };
  constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"min", 60'000}};
  constexpr double kLongest = 86'400'000;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const Unit& each : kUnits) {
    const double time = number * each.milliseconds;
    if (error != std::errc() || each.name != unit || !(time >= 0 && time <= kLongest)) continue;
    return milliseconds(static_cast<int64_t>(time));
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("no time (--commit-every {}): write it as 5s, 200ms or 2min, at most a "
                          "day; 0s: no time",
                          text));
}

// What the file has of the input, for who wants to go on.
std::string kept_text(const AppendRecordsOptions& options, const RecordWriter& writer) {
  return fmt::format("{} has {} rows now, with the first {} bytes of the input", options.file,
                     writer.committed_rows(), writer.committed_text());
}

Status append(const AppendRecordsOptions& options) {
  const Result<milliseconds> every = parse_time(options.commit_every);
  if (!every) return every.error();
  const Result<Input> input = open_input(options.input);
  if (!input) return input.error();
  if (options.input != "-") {
    if (Status other = check_other_file(options.input, options.file); !other) return other;
  }
  ProgressLine line("appending");
  RecordOptions how = record_options(options.best, "");
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
