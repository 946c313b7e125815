#include "ops/sort/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/crash_fallback.h"
#include "ops/sort/messages.h"

namespace hoist::sort {
namespace {

// The original writes through a stdio buffer of this size; a failure in the last buffer comes from
// its fflush() at the end and is reported in other words.
uint64_t stream_buffer_size(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || info.st_blksize <= 0) return BUFSIZ;
  return std::min<uint64_t>(static_cast<uint64_t>(info.st_blksize), BUFSIZ);
}

bool fits(int fd, off_t base, uint64_t total) {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  const uint64_t end = static_cast<uint64_t>(base) + total;
  if (limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur) return false;
  struct statvfs space;
  return ::fstatvfs(fd, &space) == 0 && space.f_bavail * uint64_t{space.f_frsize} > total;
}

}  // namespace

Result<Output> Output::open(const std::string& path) {
  if (path.empty()) {
    Output output({}, translate("standard output"));
    output.fd_ = STDOUT_FILENO;
    return output;
  }
  Result<UniqueFd> fd = open_file(path, O_WRONLY | O_CREAT, 0666);
  if (!fd) return io_error("open failed", path, fd.error().system_errno);
  Output output(std::move(*fd), path);
  output.truncates_ = true;
  output.standard_stream_ = true;  // it takes the place of standard output
  return output;
}

Output::Output(UniqueFd fd, std::string name)
    : owned_(std::move(fd)),
      fd_(owned_.get()),
      name_(std::move(name)),
      standard_stream_(!owned_.valid()),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)),
      mutex_(std::make_unique<std::mutex>()) {}

Status Output::begin() {
  struct stat info;
  if (!truncates_) return {};
  commit_run();
  // Some file systems write a file that was truncated to the disk when it is closed, which the
  // program would wait for. One that is empty already needs new times only, whatever follows.
  const bool is_empty = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
  if ((is_empty && ::futimens(fd_, nullptr) == 0) || ::ftruncate(fd_, 0) == 0) return {};
  const int error = errno;
  // A device cannot be truncated and needs not be.
  if (::fstat(fd_, &info) == 0 && !S_ISREG(info.st_mode)) return {};
  return fail(ErrorCode::io,
              fmt::format("{}: {}", translate("%s: error truncating", quote_name(name_)),
                          std::strerror(error)),
              error);
}

bool Output::append(const char* data, size_t size) {
  if (size == 0) return true;
  if (size <= kBuffer - used_) {
    std::memcpy(buffer_.get() + used_, data, size);
    used_ += size;
    return true;
  }
  return write_out(buffer_.get(), std::exchange(used_, 0)) && write_out(data, size);
}

bool Output::append_slowly(const char* data, size_t size, char terminator) {
  if (!append(data, size)) return false;
  return append(&terminator, 1);
}

bool Output::write_out(const char* data, size_t size) {
  if (failure_.error != 0) return false;
  if (standard_stream_) commit_run();
  while (size > 0) {
    const ssize_t moved = ::write(fd_, data, size);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return record_failure(written_, moved == 0 ? ENOSPC : errno);
    data += moved;
    size -= static_cast<size_t>(moved);
    written_ += static_cast<size_t>(moved);
  }
  return true;
}

bool Output::reserve(uint64_t total) {
  struct stat info;
  const int flags = ::fcntl(fd_, F_GETFL);
  const off_t here = ::lseek(fd_, 0, SEEK_CUR);
  if (flags < 0 || (flags & O_APPEND) != 0 || here < 0) return false;
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  // Without the room, appending fails where the original fails.
  if (!fits(fd_, here, total)) return false;
  if (standard_stream_) commit_run();  // a crash from here on leaves the position moved
  // The position may be shared with other processes: this one step moves it behind our part, so
  // that what they write from now on comes after it.
  const off_t end = ::lseek(fd_, static_cast<off_t>(total), SEEK_CUR);
  if (end < 0) return false;
  base_ = end - static_cast<off_t>(total);
  extends_file_ = info.st_size <= base_;
  total_ = total;
  positional_ = true;
  return true;
}

bool Output::write_at(uint64_t position, const char* data, size_t size) {
  if (standard_stream_) commit_run();
  while (size > 0) {
    const ssize_t moved = ::pwrite(fd_, data, size, base_ + static_cast<off_t>(position));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return record_failure(position, moved == 0 ? ENOSPC : errno);
    data += moved;
    size -= static_cast<size_t>(moved);
    position += static_cast<size_t>(moved);
  }
  return true;
}

// Drops what threads wrote behind `position`, where that was not in the file before us and nobody
// has written behind our part since.
void Output::cut_at(uint64_t position) {
  struct stat info;
  const off_t end = base_ + static_cast<off_t>(total_);
  if (::lseek(fd_, 0, SEEK_CUR) != end || ::fstat(fd_, &info) != 0 || info.st_size > end) return;
  if (extends_file_) (void)!::ftruncate(fd_, base_ + static_cast<off_t>(position));
  ::lseek(fd_, base_ + static_cast<off_t>(position), SEEK_SET);
}

uint64_t Output::failed_at() const {
  const std::lock_guard lock(*mutex_);
  return failure_.position;
}

bool Output::record_failure(uint64_t position, int error) {
  const std::lock_guard lock(*mutex_);
  if (position < failure_.position) failure_ = {position, error};
  return false;
}

Status Output::finish() {
  if (positional_ && failure_.error == 0) written_ = total_;
  if (failure_.error == 0) {
    total_ = written_ + used_;
    write_out(buffer_.get(), std::exchange(used_, 0));
  }
  if (Status written = status(); !written) return written;
  const int fd = owned_.valid() ? owned_.release() : fd_;
  // Closing tells of writes that the file system had put off. Standard output that was closed from
  // the start is no failure as long as nothing was written to it.
  if (::close(fd) != 0 && errno != EINTR && !(errno == EBADF && written_ == 0)) {
    return io_error("close failed", name_, errno);
  }
  return {};
}

Status Output::status() {
  if (failure_.error == 0) return {};
  if (positional_) cut_at(failure_.position);
  if (failure_.error == EPIPE) ::raise(SIGPIPE);
  if (failure_.error == EFBIG) ::raise(SIGXFSZ);
  return describe(failure_);
}

Error Output::describe(const Failure& failure) const {
  const uint64_t buffer = stream_buffer_size(fd_);
  const bool in_last_buffer = total_ > 0 && failure.position >= (total_ - 1) / buffer * buffer;
  Error error = io_error(standard_stream_ && in_last_buffer ? "fflush failed" : "write failed",
                         name_, failure.error);
  if (standard_stream_) error.message += fmt::format("\n{}", translate("write error"));
  return error;
}

}  // namespace hoist::sort
