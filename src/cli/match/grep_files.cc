#include "cli/match/grep_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

// A file that is also written to would grow for ever.
bool is_own_output(const struct stat& input) {
  struct stat output {};
  return ::fstat(STDOUT_FILENO, &output) == 0 && S_ISREG(output.st_mode) &&
         input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

class Files {
 public:
  Files(bool recursive, const std::function<bool(GrepFile)>& take,
        const std::function<bool(const Error&)>& refuse)
      : recursive_(recursive), take_(take), refuse_(refuse) {}

  bool named(const std::string& path) {
    if (path == "-") {
      return opened({UniqueFd(::dup(STDIN_FILENO)), "(standard input)", "standard input"});
    }
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) return file(path);
    if (recursive_) return folder(path);
    return refuse_(fail(ErrorCode::io, fmt::format("a folder ({}): pass -r to search it", path)));
  }

 private:
  bool file(const std::string& path) {
    auto fd = open_file(path, O_RDONLY);
    return fd ? opened({std::move(*fd), path, path}) : refuse_(fd.error());
  }

  bool opened(GrepFile file) {
    struct stat status {};
    if (::fstat(file.fd.get(), &status) != 0) {
      return refuse_(
          fail(ErrorCode::io, fmt::format("cannot read ({}): it is closed", file.place)));
    }
    if (S_ISREG(status.st_mode) && is_own_output(status)) {
      return refuse_(
          fail(ErrorCode::io,
               fmt::format("the input is also the output ({}): write elsewhere", file.place)));
    }
    return take_(std::move(file));
  }

  bool folder(const fs::path& path) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      entries.push_back(*at);
    }
    if (error) {
      const Error told =
          fail(ErrorCode::io, fmt::format("cannot read ({}): {}", path.string(), error.message()));
      if (!refuse_(told)) return false;
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      std::error_code unknown;
      const fs::file_status status = entry.symlink_status(unknown);
      if (fs::is_directory(status) && !folder(entry.path())) return false;
      if (fs::is_regular_file(status) && !file(entry.path().string())) return false;
    }
    return true;
  }

  bool recursive_;
  const std::function<bool(GrepFile)>& take_;
  const std::function<bool(const Error&)>& refuse_;
};

}  // namespace

void for_each_grep_file(const std::vector<std::string>& paths, bool recursive,
                        const std::function<bool(GrepFile)>& take,
                        const std::function<bool(const Error&)>& refuse) {
  Files files(recursive, take, refuse);
  for (const std::string& path : paths) {
    if (!files.named(path)) return;
  }
}

}  // namespace hoist::cli
