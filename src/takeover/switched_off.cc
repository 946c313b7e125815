#include "takeover/switched_off.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/own_file.h"

namespace hoist {
namespace {

constexpr size_t kNoteLimit = 64 << 10;
// One write() of this much is not mixed with another process's on any local file system.
constexpr size_t kLineLimit = 2048;
// Whatever stands at the path must neither block us nor lead elsewhere.
constexpr int kSafeOpen = O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;

std::string cache_directory() {
  Result<std::string> directory = user_cache_directory();
  return directory ? std::move(*directory) : std::string();
}

// Why the open file cannot be the note, or null.
const char* objection(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return "unreadable";
  if (!S_ISREG(info.st_mode)) return "no regular file";
  if (info.st_uid != ::geteuid()) return "another user's";
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "writable by others";
  if (static_cast<uint64_t>(info.st_size) > kNoteLimit) return "too large";
  return nullptr;
}

struct Note {
  std::string text;
  std::string unusable;  // why; empty where `text` holds all of it
};

Note read_note(const std::string& path) {
  const Result<UniqueFd> fd = open_file(path, O_RDONLY | kSafeOpen);
  if (!fd) {
    struct stat info;
    const int code = fd.error().system_errno;
    // A home that we may not search holds no note; one that stands there and cannot be opened is
    // one. (What is absent is not looked for again: somebody may write it just now.)
    if (code == ENOENT || code == ENOTDIR || ::lstat(path.c_str(), &info) != 0) return {};
    return {{}, std::strerror(code)};
  }
  if (const char* why = objection(fd->get())) return {{}, why};
  std::string text(kNoteLimit, '\0');
  const Result<size_t> size = read_full(fd->get(), text.data(), text.size());
  if (!size) return {{}, "unreadable"};
  text.resize(*size);
  return {text, {}};
}

bool ends_within_a_line(int fd) {
  struct stat info;
  char last = '\n';
  if (::fstat(fd, &info) != 0 || info.st_size == 0) return false;
  return pread_full(fd, &last, 1, static_cast<uint64_t>(info.st_size - 1)) && last != '\n';
}

// Null, or why it failed.
const char* append(const std::string& path, std::string line) {
  const Result<UniqueFd> fd = open_file(path, O_RDWR | O_APPEND | O_CREAT | kSafeOpen, 0600);
  if (!fd) return std::strerror(fd.error().system_errno);
  if (const char* why = objection(fd->get())) return why;
  if (ends_within_a_line(fd->get())) line.insert(0, 1, '\n');
  if (!may_grow(fd->get(), line.size())) return std::strerror(EFBIG);
  if (!write_full(fd->get(), line.data(), line.size())) return std::strerror(errno);
  return ::fsync(fd->get()) == 0 ? nullptr : std::strerror(errno);
}

}  // namespace

std::string switched_off_path() {
  const std::string directory = cache_directory();
  return directory.empty() ? directory : directory + "/switched-off";
}

std::optional<std::string> switched_off(std::string_view operation) {
  const std::string path = switched_off_path();
  if (path.empty()) return {};
  const Note note = read_note(path);
  if (!note.unusable.empty()) return fmt::format("unusable note: {}", note.unusable);
  for (size_t start = 0; start < note.text.size();) {
    const size_t end = std::min(note.text.find('\n', start), note.text.size());
    const std::string line = note.text.substr(start, end - start);
    if (line.starts_with(fmt::format("{} ", operation))) return line;
    start = end + 1;
  }
  return {};
}

void switch_off(std::string_view operation, std::string_view why) {
  const std::string directory = cache_directory();
  if (directory.empty() || switched_off(operation)) return;
  for (size_t slash = directory.find('/', 1); slash != std::string::npos;
       slash = directory.find('/', slash + 1)) {
    ::mkdir(directory.substr(0, slash).c_str(), 0755);
  }
  ::mkdir(directory.c_str(), 0700);
  std::string line = fmt::format("{} {}", operation, why).substr(0, kLineLimit);
  std::replace(line.begin(), line.end(), '\n', ' ');
  if (const char* failure = append(switched_off_path(), line + '\n')) {
    log(LogLevel::error, "cannot switch {} off: {}: {}", operation, switched_off_path(), failure);
  }
}

}  // namespace hoist
