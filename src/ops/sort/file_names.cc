#include "ops/sort/file_names.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/crash_fallback.h"
#include "base/file.h"

namespace hoist::sort {
namespace {

Error aside(const char* reason) { return fail(ErrorCode::unsupported, reason); }

// Everything up to the end of the file. No limit is set, as the original has none.
Result<std::string> read_to_end(int fd) {
  std::string content;
  std::array<char, 65536> chunk;
  for (;;) {
    const Result<size_t> count = read_full(fd, chunk.data(), chunk.size());
    if (!count) return count.error();
    content.append(chunk.data(), *count);
    if (*count < chunk.size()) return content;
  }
}

Result<std::string> read_list_file(const std::string& path) {
  // Only a regular file gives the original the same bytes again, should the engine step aside.
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return aside("file names from a special file");
  }
  const Result<UniqueFd> fd = open_file(path, O_RDONLY);
  if (!fd) return aside("unreadable list of file names");
  return read_to_end(fd->get());
}

// Reads standard input to its end and puts a memory file of the same content in its place.
Result<std::string> read_standard_input() {
  UniqueFd memory(memfd_create("hoist-file-names", MFD_CLOEXEC));
  if (!memory.valid()) return aside("no memory file for a list of file names");
  if (memory.get() == STDIN_FILENO) return aside("closed standard input");
  // How long the list is is known when it has been read, which is too late to go back.
  constexpr uint64_t kAnyLength = uint64_t{1} << 40;
  if (!may_grow(memory.get(), kAnyLength)) return aside("file size is limited");
  commit_run();
  Result<std::string> content = read_to_end(STDIN_FILENO);
  if (!content) return content;
  if (const Status written = write_full(memory.get(), content->data(), content->size()); !written) {
    return written.error();
  }
  if (lseek(memory.get(), 0, SEEK_SET) != 0 || dup2(memory.get(), STDIN_FILENO) != STDIN_FILENO) {
    return aside("no memory file for a list of file names");
  }
  return content;
}

}  // namespace

Result<std::vector<std::string>> read_file_names(const std::string& source) {
  const Result<std::string> content =
      source == "-" ? read_standard_input() : read_list_file(source);
  if (!content) return aside("unreadable list of file names");

  std::vector<std::string> names;
  for (size_t at = 0; at < content->size();) {
    size_t end = content->find('\0', at);
    if (end == std::string::npos) end = content->size();
    names.push_back(content->substr(at, end - at));
    at = end + 1;
    if (names.back().empty() || names.back() == "-") return aside("invalid list of file names");
  }
  if (names.empty()) return aside("empty list of file names");
  return names;
}

}  // namespace hoist::sort
