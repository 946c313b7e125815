#include "cli/stats_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/file.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaximumLinks = 40;  // as the kernel's

bool is_kernels(const std::string& path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

// The descriptor that /dev/stdout, /dev/fd/N or /proc/self/fd/N stands for. Opening those anew
// would start at the file's beginning, over what the program wrote there.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const char* end = path.data() + path.size();
    int number = -1;
    const auto [rest, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && rest == end) return number;
  }
  return std::nullopt;
}

// Follows links until there is none, or one is in /dev or /proc and leads we know not where.
Result<std::string> follow(const std::string& name) {
  std::error_code error;
  fs::path path = fs::absolute(name);
  for (int links = 0; links < kMaximumLinks; ++links) {
    const fs::path folder = fs::canonical(path.parent_path(), error);
    if (error) return path.string();  // opening it will say why
    const fs::path resolved = folder / path.filename();
    if (is_kernels(resolved)) return is_kernels(path) ? path.string() : resolved.string();
    if (!fs::is_symlink(resolved, error)) return resolved.string();
    path = folder / fs::read_symlink(resolved, error);  // an absolute one replaces the folder
  }
  return fail(ErrorCode::io, fmt::format("cannot follow {} (--stats): too many links", name));
}

bool accepts(const std::string& path, int mode) { return ::access(path.c_str(), mode) == 0; }

}  // namespace

Result<StatsFile> StatsFile::find(const std::string& name) {
  if (name.empty()) {
    return fail(ErrorCode::invalid_argument,
                "an empty name (--stats=): name a file, or leave out the = for standard error");
  }
  const auto cannot_write = [&] {
    return fail(ErrorCode::io, fmt::format("cannot write {} ({}): give a file in a folder that you "
                                           "may write",
                                           name, std::strerror(errno)));
  };
  Result<std::string> path = follow(name);
  if (!path) return tl::unexpected(path.error());
  StatsFile file;
  file.path_ = std::move(*path);
  if (const std::optional<int> descriptor = descriptor_of(file.path_)) {
    file.descriptor_ = *descriptor;
    const int flags = ::fcntl(*descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) errno = EBADF;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return cannot_write();
    return file;
  }
  const std::string folder = fs::path(file.path_).parent_path();
  const bool folder_takes_files = accepts(folder, W_OK | X_OK);
  struct stat info;
  if (::lstat(file.path_.c_str(), &info) != 0) {
    if (errno != ENOENT || !folder_takes_files) return cannot_write();
    return file;
  }
  if (S_ISDIR(info.st_mode) || name.ends_with('/')) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is a folder (--stats): name a file in it", name));
  }
  if (!accepts(file.path_, W_OK)) return cannot_write();
  if (!S_ISREG(info.st_mode)) {
    file.flags_ = O_WRONLY | O_APPEND | O_NOCTTY;
  } else if (is_kernels(file.path_) || !folder_takes_files || info.st_nlink > 1 ||
             info.st_uid != ::geteuid()) {
    file.flags_ = O_WRONLY | O_TRUNC;
  }
  return file;
}

Status StatsFile::write(std::string_view text) const {
  if (descriptor_ >= 0) return write_full(descriptor_, text.data(), text.size(), path_);
  if (flags_ != 0) {
    const Result<UniqueFd> file = open_file(path_, flags_);
    if (!file) return tl::unexpected(file.error());
    return write_full(file->get(), text.data(), text.size(), path_);
  }
  struct stat info;
  if (::lstat(path_.c_str(), &info) == 0) {
    return write_file_atomically(path_, text, info.st_mode & 07777U);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return write_file_atomically(path_, text, 0666U & ~mask);
}

}  // namespace hoist::cli
