#include "base/own_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"

namespace hoist {
namespace {

bool others_may_write(const struct stat& info) { return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

Error distrust(const std::string& path, const char* why) {
  return fail(ErrorCode::io, fmt::format("{} is not trusted: {}", path, why));
}

}  // namespace

Result<std::string> user_cache_directory() {
  if (::getauxval(AT_SECURE) != 0) {
    return fail(ErrorCode::unavailable, "a program with raised privileges keeps no files");
  }
  const char* const cache = environment_value("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return fmt::format("{}/hoist", cache);
  const char* const home = environment_value("HOME");
  if (home != nullptr && home[0] == '/') return fmt::format("{}/.cache/hoist", home);
  return fail(ErrorCode::unavailable,
              "there is no place for a cache (XDG_CACHE_HOME, HOME): set HOME");
}

Status check_own_directory(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) {
    return fail(ErrorCode::not_found, fmt::format("{} is not there", path));
  }
  if (!S_ISDIR(info.st_mode)) return distrust(path, "no directory");
  if (info.st_uid != ::geteuid()) return distrust(path, "another user's");
  if (others_may_write(info)) return distrust(path, "others may write it");
  return {};
}

Status make_own_directory(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), 0700);
  }
  ::mkdir(path.c_str(), 0700);
  return check_own_directory(path);
}

Result<UniqueFd> open_own_file(const std::string& path, int flags, mode_t mode) {
  Result<UniqueFd> fd = open_file(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
  if (!fd) return fd;
  struct stat info;
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return distrust(path, "no regular file");
  }
  if (info.st_uid != ::geteuid()) return distrust(path, "another user's");
  if (others_may_write(info)) return distrust(path, "others may write it");
  return fd;
}

Result<std::string> read_own_file(const std::string& path, size_t limit) {
  const Result<UniqueFd> fd = open_own_file(path, O_RDONLY);
  if (!fd) return fd.error();
  struct stat info;
  if (::fstat(fd->get(), &info) != 0 || static_cast<uint64_t>(info.st_size) > limit) {
    return fail(ErrorCode::exhausted,
                fmt::format("{} is larger than the limit of {} bytes", path, limit));
  }
  std::string content(static_cast<size_t>(info.st_size), '\0');
  const Result<size_t> size = read_full(fd->get(), content.data(), content.size(), path);
  if (!size) return size.error();
  content.resize(*size);
  return content;
}

}  // namespace hoist
