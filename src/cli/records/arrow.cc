#include "cli/records/arrow.h"

#include <unistd.h>

#include "base/file.h"
#include "cli/container/progress.h"
#include "cli/output_rule.h"

namespace hoist::cli {

bool is_arrow(const std::string& to, const std::string& output) {
  return to == "arrow" ||
         (to.empty() && (output.ends_with(".arrow") || output.ends_with(".arrows")));
}

Status write_arrow(const records::RecordReader& reader, records::arrow::ArrowOptions options,
                   const std::string& output, bool force) {
  if (output == "-") {
    options.as_file = false;
    return records::arrow::write_arrow(reader, options, [](std::string_view bytes) {
      return write_full(STDOUT_FILENO, bytes.data(), bytes.size(), "standard output");
    });
  }
  Result<OutputFile> file = OutputFile::create(output, output_rule(force, {reader.name()}));
  if (!file) return file.error();
  ProgressLine line("decoding");
  options.rows.progress = [&](uint64_t done, uint64_t total) { line.update(done, total); };
  options.as_file = !output.ends_with(".arrows");
  const Status written = records::arrow::write_arrow(reader, options, [&](std::string_view bytes) {
    return write_full(file->fd(), bytes.data(), bytes.size(), output);
  });
  return written ? file->publish() : written;
}

}  // namespace hoist::cli
