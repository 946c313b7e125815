#include "cli/records/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace hoist::cli {

using namespace hoist::records;

int Input::fd() const { return file.valid() ? file.get() : STDIN_FILENO; }

Result<Input> open_input(const std::string& name) {
  Input input{.file = {}, .name = name};
  if (name == "-") {
    input.name = "standard input";
  } else {
    Result<UniqueFd> file = open_file(name, O_RDONLY);
    if (!file) return file.error();
    input.file = std::move(*file);
  }
  struct stat info {};
  input.is_regular = ::fstat(input.fd(), &info) == 0 && S_ISREG(info.st_mode);
  if (input.is_regular && name != "-") input.size = static_cast<uint64_t>(info.st_size);
  return input;
}

RecordOptions record_options(bool best, const std::string& format) {
  RecordOptions options;
  options.effort = best ? Effort::best : Effort::usual;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(Format::log); ++i) {
    if (name(static_cast<Format>(i)) == format) options.format = static_cast<Format>(i);
  }
  return options;
}

void print_written(const std::string& file, const RecordWriter& writer, bool json) {
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

}  // namespace hoist::cli
