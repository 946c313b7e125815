#include "base/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace hoist {
namespace {

Error io_error(std::string_view call, std::string_view what) {
  const int code = errno;
  return fail(code == ENOENT ? ErrorCode::not_found : ErrorCode::io,
              fmt::format("{}{}{}: {}", call, what.empty() ? "" : " ", what, std::strerror(code)),
              code);
}

// Repeats `call(pointer, size, done)` until everything moved, end of file, or an error.
template <typename Call>
Result<size_t> move_all(size_t size, std::string_view name, std::string_view what, Call&& call) {
  size_t done = 0;
  while (done < size) {
    const ssize_t moved = call(done);
    if (moved < 0) {
      if (errno == EINTR) continue;
      return io_error(name, what);
    }
    if (moved == 0) break;
    done += static_cast<size_t>(moved);
  }
  return done;
}

Status expect_all(Result<size_t> moved, size_t size, std::string_view what) {
  if (!moved) return moved.error();
  if (*moved == size) return {};
  errno = ENOSPC;  // a write of zero bytes: the device takes no more
  return io_error("write", what);
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int UniqueFd::release() { return std::exchange(fd_, -1); }

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<UniqueFd> open_file(const std::string& path, int flags, mode_t mode) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return io_error("open", path);
  return UniqueFd(fd);
}

Result<size_t> read_full(int fd, void* data, size_t size, std::string_view what) {
  return move_all(size, "read", what, [&](size_t done) {
    return ::read(fd, static_cast<char*>(data) + done, size - done);
  });
}

Result<size_t> pread_full(int fd, void* data, size_t size, uint64_t offset, std::string_view what) {
  return move_all(size, "read", what, [&](size_t done) {
    return ::pread(fd, static_cast<char*>(data) + done, size - done,
                   static_cast<off_t>(offset + done));
  });
}

Status write_full(int fd, const void* data, size_t size, std::string_view what) {
  return expect_all(move_all(size, "write", what,
                             [&](size_t done) {
                               return ::write(fd, static_cast<const char*>(data) + done,
                                              size - done);
                             }),
                    size, what);
}

Status pwrite_full(int fd, const void* data, size_t size, uint64_t offset, std::string_view what) {
  return expect_all(move_all(size, "write", what,
                             [&](size_t done) {
                               return ::pwrite(fd, static_cast<const char*>(data) + done,
                                               size - done, static_cast<off_t>(offset + done));
                             }),
                    size, what);
}

bool may_grow(int fd, uint64_t size) {
  struct stat info;
  struct rlimit limit;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return true;
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  const auto used = static_cast<uint64_t>(info.st_size);
  return used <= limit.rlim_cur && size <= limit.rlim_cur - used;
}

Status set_aside(int fd, uint64_t size) {
  int result = -1;
  errno = EFBIG;
  // Not posix_fallocate(), which writes where the file system sets nothing aside.
  if (may_grow(fd, size)) {
    do {
      result = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
    } while (result != 0 && errno == EINTR);
  }
  if (result != 0) return io_error("set aside", fmt::format("{} bytes", size));
  return {};
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  Result<UniqueFd> fd = open_file(path, O_RDONLY);
  if (!fd) return fd.error();
  std::string content;
  constexpr size_t kStep = 64 * 1024;
  while (true) {
    const size_t had = content.size();
    content.resize(had + kStep);
    Result<size_t> got = read_full(fd->get(), content.data() + had, kStep, path);
    if (!got) return got.error();
    content.resize(had + *got);
    if (content.size() > limit) {
      return fail(ErrorCode::exhausted,
                  fmt::format("{} is larger than the limit of {} bytes", path, limit));
    }
    if (*got < kStep) return content;
  }
}

Status write_file_atomically(const std::string& path, std::string_view content, mode_t mode) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return io_error("create", temporary);
  errno = EFBIG;
  Status status = may_grow(fd.get(), content.size()) ? Status() : io_error("write", temporary);
  if (status) status = write_full(fd.get(), content.data(), content.size(), temporary);
  if (status && ::fchmod(fd.get(), mode) != 0) status = io_error("chmod", temporary);
  if (status && ::fsync(fd.get()) != 0) status = io_error("sync", temporary);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) status = io_error("rename", path);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

Status check_other_file(const std::string& input, const std::string& output) {
  struct stat read {};
  struct stat written {};
  if (::stat(input.c_str(), &read) != 0 || ::stat(output.c_str(), &written) != 0) return {};
  if (read.st_dev != written.st_dev || read.st_ino != written.st_ino) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("input and output are the same file ({}): name a new one", input));
}

Status sync_folder(const std::string& folder) {
  Result<UniqueFd> opened = open_file(folder, O_RDONLY | O_DIRECTORY);
  // One that may be written into and not read, as a drop box, cannot be synced by itself.
  if (!opened && opened.error().system_errno == EACCES) return {};
  if (!opened) return opened.error();
  if (::fsync(opened->get()) == 0 || errno == EINVAL || errno == EROFS) return {};
  return fail(ErrorCode::io, fmt::format("cannot write {}", folder), errno);
}

PageBuffer::PageBuffer(size_t size) {
  if (size == 0) return;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  constexpr size_t kHugeFrom = size_t{4} << 20;
  if (size >= kHugeFrom) ::madvise(memory, size, MADV_HUGEPAGE);
  data_ = static_cast<char*>(memory);
  size_ = size;
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace hoist
