#include "container/file_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

namespace hoist::container {
namespace {

using std::chrono::milliseconds;

// Who looks whether there is a writer has the lock for some microseconds.
constexpr milliseconds kPatience(200);
constexpr milliseconds kPause(5);
constexpr size_t kMostLocks = size_t{4} << 20;  // bytes of /proc/locks

std::string name_of_process(const std::string& pid) {
  Result<std::string> name = read_file("/proc/" + pid + "/comm", 64);
  if (!name) return {};
  while (name->ends_with('\n')) name->pop_back();
  return ", " + *name;
}

// "; process 17, hoist-records", by /proc/locks; nothing where that does not tell, as of a process
// that is in a container of its own.
std::string owner_of(int fd) {
  struct stat info {};
  const Result<std::string> locks = read_file("/proc/locks", kMostLocks);
  if (!locks || ::fstat(fd, &info) != 0) return {};
  const std::string file =
      fmt::format("{:02x}:{:02x}:{}", ::major(info.st_dev), ::minor(info.st_dev), info.st_ino);
  std::istringstream lines(*locks);
  for (std::string line; std::getline(lines, line);) {
    // "1: FLOCK  ADVISORY  WRITE 17723 fe:00:10993989 0 EOF"
    std::istringstream words(line);
    std::string number, kind, manner, access, pid, place;
    words >> number >> kind >> manner >> access >> pid >> place;
    if (kind == "FLOCK" && place == file) return "; process " + pid + name_of_process(pid);
  }
  return {};
}

// 0, or errno.
int try_lock(int fd) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= end) return errno;
    std::this_thread::sleep_for(kPause);
  }
  return 0;
}

Error has_another(int fd, const std::string& path) {
  return fail(ErrorCode::unavailable,
              fmt::format("another writer has the file ({}{}): try again when it is done", path,
                          owner_of(fd)));
}

}  // namespace

Status lock_for_writing(int fd, const std::string& path) {
  const int code = try_lock(fd);
  if (code == 0) return {};
  if (code == EWOULDBLOCK) return has_another(fd, path);
  return fail(ErrorCode::io, fmt::format("lock {}: {}", path, std::strerror(code)), code);
}

bool has_writer(int fd) {
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(fd, LOCK_UN);
  return false;
}

bool is_named(int fd, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Result<UniqueFd> lock_replaced(const std::string& path) {
  while (true) {
    Result<UniqueFd> fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat info {};
    if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return UniqueFd();
    const int code = try_lock(fd->get());
    if (code == EWOULDBLOCK) return has_another(fd->get(), path);
    if (code != 0) return UniqueFd();
    // Someone may have put a new file there in between.
    if (is_named(fd->get(), path)) return fd;
  }
}

}  // namespace hoist::container
