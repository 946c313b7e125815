#include "ops/qsort/mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace hoist::qsort {

namespace {

// Reading a device's memory may have an effect, and the kernel's own pages hold no strings.
bool is_ordinary(std::string_view path) {
  if (path.empty() || path == "[heap]" || path == "[stack]" || path.starts_with("[anon:") ||
      path.starts_with("/dev/shm/") || path.starts_with("/dev/zero")) {
    return true;
  }
  return path.starts_with('/') && !path.starts_with("/dev/") && !path.starts_with("/sys/") &&
         !path.starts_with("/proc/") && !path.starts_with("/dmabuf");
}

}  // namespace

// "START-END PERMISSIONS OFFSET DEVICE INODE PATH": see proc(5). False where there is no room.
bool Mappings::add_line(const char* line) {
  uintptr_t start = 0;
  uintptr_t end = 0;
  char permissions[5] = "";
  int path = 0;
  const int fields = std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n", &start, &end,
                                 permissions, &path);
  if (fields != 3 || permissions[0] != 'r') return true;
  if (!is_ordinary(line + path)) return true;
  if (count_ > 0 && ranges_[count_ - 1].end == start) {
    ranges_[count_ - 1].end = end;
    return true;
  }
  if (count_ == kMost) return false;
  ranges_[count_++] = {start, end};
  return true;
}

bool Mappings::load() {
  count_ = 0;
  const UniqueFd fd(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return false;
  char buffer[8192];
  size_t held = 0;
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer + held, sizeof buffer - 1 - held);
    if (got < 0) return false;
    if (got == 0) return count_ > 0;
    held += static_cast<size_t>(got);
    buffer[held] = '\0';
    char* line = buffer;
    for (char* newline; (newline = std::strchr(line, '\n')) != nullptr; line = newline + 1) {
      *newline = '\0';
      if (!add_line(line)) return false;
    }
    held -= static_cast<size_t>(line - buffer);
    if (held == sizeof buffer - 1) return false;
    std::memmove(buffer, line, held);
  }
}

uintptr_t Mappings::end_of(uintptr_t address) const {
  const Range* const last = ranges_.data() + count_;
  const Range* after =
      std::upper_bound(ranges_.data(), last, address,
                       [](uintptr_t at, const Range& range) { return at < range.start; });
  if (after == ranges_.data()) return 0;
  const Range& range = after[-1];
  return address < range.end ? range.end : 0;
}

}  // namespace hoist::qsort
