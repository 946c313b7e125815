#include "cli/px/read_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "cli/report.h"

namespace hoist::cli {

Result<px::Source> read_px(const std::string& path) {
  const bool is_standard_input = path == "-";
  Result<UniqueFd> fd = is_standard_input ? Result<UniqueFd>(UniqueFd(::dup(STDIN_FILENO)))
                                          : open_file(path, O_RDONLY);
  if (!fd) return fd.error();
  std::string text(px::Source::kMostBytes + 1, '\0');
  const Result<size_t> size = read_full(fd->get(), text.data(), text.size(), path);
  if (!size) return size.error();
  if (*size > px::Source::kMostBytes) {
    return fail(ErrorCode::exhausted,
                fmt::format("{} is larger than {} bytes: split it", path, px::Source::kMostBytes));
  }
  text.resize(*size);
  return px::Source(is_standard_input ? "(standard input)" : path, std::move(text));
}

void print(const px::Source& source, const px::Diagnostics& diagnostics) {
  print_error(px::render(source, diagnostics));
}

Result<PxFile> load_px(const std::string& path) {
  Result<px::Source> source = read_px(path);
  if (!source) return source.error();
  px::Diagnostics diagnostics;
  std::optional<px::Lowered> lowered = px::read(*source, diagnostics);
  print(*source, diagnostics);
  return PxFile{*std::move(source), std::move(lowered)};
}

}  // namespace hoist::cli
