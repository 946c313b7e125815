#include "px/syntax/format.h"

#include <fmt/core.h>

#include "base/output_file.h"
#include "cli/px/commands.h"
#include "cli/px/read_source.h"
#include "cli/report.h"
#include "px/syntax/parser.h"

namespace hoist::cli {
namespace {

// Whether the file is laid out, or could be; what does not parse is left as it is.
Result<bool> format_file(const std::string& path, bool check) {
  const Result<px::Source> source = read_px(path);
  if (!source) return source.error();
  px::Diagnostics diagnostics;
  (void)px::parse(*source, diagnostics);
  if (diagnostics.has_errors()) {
    print(*source, diagnostics);
    return false;
  }
  const std::string laid_out = px::format(*source);
  if (path == "-" && !check) {
    fmt::print("{}", laid_out);
    return true;
  }
  if (laid_out == source->text()) return true;
  if (check) {
    fmt::print("{}\n", source->name());
    return false;
  }
  const Status written = write_output(path, laid_out, {.replace = Replace::any});
  if (!written) return written.error();
  return true;
}

}  // namespace

int px_format(const PxFormatOptions& options) {
  int status = kDone;
  for (const std::string& path : options.files) {
    const Result<bool> formatted = format_file(path, options.check);
    if (!formatted) return report(formatted.error());
    if (!*formatted) status = kFailed;
  }
  return status;
}

}  // namespace hoist::cli
