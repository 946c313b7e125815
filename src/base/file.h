// Owned file descriptors and the retry loops around them. All calls restart on EINTR and finish
// short reads and writes; errors carry errno and name the path they were given.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

// Opens with O_CLOEXEC added. `mode` counts only with O_CREAT.
Result<UniqueFd> open_file(const std::string& path, int flags, mode_t mode = 0600);

// Reads until `size` bytes or end of file; returns the count read.
Result<size_t> read_full(int fd, void* data, size_t size, std::string_view what = {});
Result<size_t> pread_full(int fd, void* data, size_t size, uint64_t offset,
                          std::string_view what = {});
Status write_full(int fd, const void* data, size_t size, std::string_view what = {});
Status pwrite_full(int fd, const void* data, size_t size, uint64_t offset,
                   std::string_view what = {});

// Whether `size` bytes more at the file's end stay within RLIMIT_FSIZE, beyond which a write raises
// SIGXFSZ. What is no regular file has no such limit.
bool may_grow(int fd, uint64_t size);
// Makes the empty file `size` bytes long, all of them set aside, so that memory mapped from it can
// be touched without SIGBUS. Fails, and raises no signal, where there is no room or the file system
// sets none aside.
Status set_aside(int fd, uint64_t size);

// The whole file; fails with `exhausted` above `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit);

// Writes a temporary file beside `path`, syncs it and renames it over `path`: a reader, a crash or
// a full disk sees the old content or the new one. Raises no SIGXFSZ.
Status write_file_atomically(const std::string& path, std::string_view content, mode_t mode = 0600);

// After it the folder has its present entries, whatever happens to the power.
Status sync_folder(const std::string& folder);

// `invalid_argument` where both name one file, through links too. No output yet is another file.
Status check_other_file(const std::string& input, const std::string& output);

// Anonymous memory of `size` bytes, zero, page-aligned, asking for huge pages from 4 MiB up.
// Unused pages cost nothing. Empty when the system refuses (`data()` is null).
class PageBuffer {
 public:
  PageBuffer() = default;
  explicit PageBuffer(size_t size);
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;
  ~PageBuffer();

  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hoist
