#include <unistd.h>

#include "base/file.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/records/commands.h"
#include "cli/records/input.h"
#include "cli/report.h"
#include "records/writer.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;

ReadText read_from(const Input& input) {
  return [&input](std::span<char> into) {
    return read_full(input.fd(), into.data(), into.size(), input.name);
  };
}

// To standard output, where the file is all that is written.
Status encode_to_stream(const ReadText& read, const RecordOptions& how, bool json) {
  const auto wrong = [](const char* what) {
    return fail(ErrorCode::invalid_argument,
                std::string(what) + ": name a file (-o), or write into a pipe without --json");
  };
  if (json) return wrong("the facts would be written into the file of records");
  if (::isatty(STDOUT_FILENO) == 1) return wrong("a file of records is not for a terminal");
  Result<RecordWriter> writer = RecordWriter::stream(STDOUT_FILENO, how);
  if (!writer) return writer.error();
  if (Status status = writer->write_all(read); !status) return status;
  return writer->finish();
}

Status encode(const EncodeOptions& options) {
  const Result<Input> input = open_input(options.input);
  if (!input) return input.error();
  RecordOptions how = record_options(options.best, options.format);
  if (options.header != "auto") how.header = options.header == "yes";
  std::vector<std::string> inputs;
  if (options.input != "-") inputs.push_back(options.input);
  if (options.input != "-") how.source = options.input;
  how.note = [](const std::string& what) { warn(what); };
  how.output = output_rule(options.force, inputs);
  ProgressLine line("encoding");
  how.progress = [&](uint64_t done) { line.update(done, input->size); };
  if (options.output == "-") return encode_to_stream(read_from(*input), how, options.json);
  Result<RecordWriter> writer = RecordWriter::create(options.output, how);
  if (!writer) return writer.error();
  if (Status status = writer->write_all(read_from(*input)); !status) return status;
  if (Status status = writer->finish(); !status) return status;
  print_written(options.output, *writer, options.json);
  return {};
}

}  // namespace

int encode_command(const EncodeOptions& options) {
  const Status encoded = encode(options);
  return encoded ? kDone : report(encoded.error());
}

}  // namespace hoist::cli
