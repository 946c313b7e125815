#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"
#include "cli/records/commands.h"
#include "cli/report.h"
#include "records/writer.h"

namespace hoist::cli {
namespace {

using namespace hoist::records;

// A file, or standard input for "-".
struct Input {
  UniqueFd file;
  std::string name;
  uint64_t size = 0;  // 0: not known

  int fd() const { return file.valid() ? file.get() : STDIN_FILENO; }
};

Result<Input> open_input(const std::string& name) {
  Input input{.file = {}, .name = name};
  if (name == "-") {
    input.name = "standard input";
    return input;
  }
  Result<UniqueFd> file = open_file(name, O_RDONLY);
  if (!file) return file.error();
  input.file = std::move(*file);
  struct stat info {};
  if (::fstat(input.fd(), &info) == 0 && S_ISREG(info.st_mode)) {
    input.size = static_cast<uint64_t>(info.st_size);
  }
  return input;
}

ReadText read_from(const Input& input) {
  return [&input](std::span<char> into) {
    return read_full(input.fd(), into.data(), into.size(), input.name);
  };
}

RecordOptions record_options(bool best, const std::string& format) {
  RecordOptions options;
  options.effort = best ? Effort::best : Effort::usual;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(Format::log); ++i) {
    if (name(static_cast<Format>(i)) == format) options.format = static_cast<Format>(i);
  }
  return options;
}

void print(const std::string& file, const RecordWriter& writer, bool json) {
  const uint64_t text = writer.text_bytes();
  if (json) {
    const nlohmann::ordered_json facts = {{"file", file},
                                          {"format", name(writer.dialect().format)},
                                          {"rows", writer.rows()},
                                          {"input_bytes", text},
                                          {"bytes", writer.size()}};
    fmt::print("{}\n", facts.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {} rows ({}), {} bytes of text read, {} bytes in the file\n", file, writer.rows(),
             name(writer.dialect().format), text, writer.size());
}

Status encode(const EncodeOptions& options) {
  const Result<Input> input = open_input(options.input);
  if (!input) return input.error();
  RecordOptions how = record_options(options.best, options.format);
  if (options.header != "auto") how.header = options.header == "yes";
  std::vector<std::string> inputs;
  if (options.input != "-") inputs.push_back(options.input);
  how.output = output_rule(options.force, inputs);
  ProgressLine line("encoding");
  how.progress = [&](uint64_t done) { line.update(done, input->size); };
  Result<RecordWriter> writer = RecordWriter::create(options.output, how);
  if (!writer) return writer.error();
  if (Status status = writer->write_all(read_from(*input)); !status) return status;
  if (Status status = writer->finish(); !status) return status;
  print(options.output, *writer, options.json);
  return {};
}

Status append(const AppendRecordsOptions& options) {
  const Result<Input> input = open_input(options.input);
  if (!input) return input.error();
  if (options.input != "-") {
    if (Status other = check_other_file(options.input, options.file); !other) return other;
  }
  ProgressLine line("appending");
  RecordOptions how = record_options(options.best, "");
  how.progress = [&](uint64_t done) { line.update(done, input->size); };
  Result<RecordWriter> writer = RecordWriter::append(options.file, how);
  if (!writer) return writer.error();
  if (Status status = writer->write_all(read_from(*input)); !status) return status;
  if (Status status = writer->finish(); !status) return status;
  print(options.file, *writer, options.json);
  return {};
}

}  // namespace

int encode_command(const EncodeOptions& options) {
  const Status encoded = encode(options);
  return encoded ? kDone : report(encoded.error());
}

int append_command(const AppendRecordsOptions& options) {
  const Status appended = append(options);
  return appended ? kDone : report(appended.error());
}

}  // namespace hoist::cli
