#include "container/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "container/file_lock.h"

namespace hoist::container {
namespace {

constexpr size_t kBufferSize = size_t{256} << 10;
// From here on a call of the system costs less than a copy into the buffer.
constexpr size_t kUncopied = size_t{16} << 10;

Error io_error(std::string_view call, std::string_view path) {
  const int code = errno;
  return fail(code == ENOENT ? ErrorCode::not_found : ErrorCode::io,
              fmt::format("{} {}: {}", call, path, std::strerror(code)), code);
}

}  // namespace

Output::Output(UniqueFd owned, int fd, std::string name)
    : owned_(owned.valid() ? PrivateFd(std::move(owned)) : PrivateFd()),
      fd_(fd),
      name_(std::move(name)) {
  buffer_.reserve(kBufferSize);
}

Status Output::check(const std::string& path, const OutputRule& rule) {
  const Result<OutputPlace> there = find_output_place(path);
  if (!there) return there.error();
  if (there->holds == OutputPlace::Holds::special) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("not a regular file ({}): name another one to be written", path));
  }
  return check_output(path, rule);
}

Result<Output> Output::create(const std::string& path, mode_t mode, OutputRule rule, bool lock) {
  if (Status allowed = check(path, rule); !allowed) return allowed.error();
  UniqueFd replaced;
  if (lock && rule.replace != Replace::never) {
    Result<UniqueFd> locked = lock_replaced(path);
    if (!locked) return locked.error();
    replaced = std::move(*locked);
  }
  Result<OutputFile> file = OutputFile::create(path, std::move(rule), mode);
  if (!file) return file.error();
  Output output(UniqueFd(), file->fd(), path);
  if (replaced.valid()) output.replaced_ = PrivateFd(std::move(replaced));
  output.file_.emplace(std::move(*file));
  output.cuttable_ = true;
  // Nobody else can have it yet; from publication on it keeps appending writers away.
  ::flock(output.fd_, LOCK_EX | LOCK_NB);
  return output;
}

Result<Output> Output::stream(int fd, std::string name) {
  return Output(UniqueFd(), fd, std::move(name));
}

Result<Output> Output::append(const std::string& path) {
  while (true) {
    Result<UniqueFd> fd = open_file(path, O_RDWR | O_NONBLOCK);
    if (!fd) return fd.error();
    if (Status locked = lock_for_writing(fd->get(), path); !locked) return locked.error();
    // Someone may have put a new file there in between.
    if (!is_named(fd->get(), path)) continue;
    const int raw = fd->get();
    Output output(std::move(*fd), raw, path);
    // The name stays what it is, wherever the process goes. Without it nothing is looked at.
    if (Result<UniqueFd> folder = open_file(folder_of(path), O_PATH | O_DIRECTORY)) {
      output.folder_ = std::move(*folder);
    }
    return output;
  }
}

Output::~Output() = default;

Status Output::check_name() {
  struct stat held {};
  struct stat named {};
  if (!owned_.valid() || !folder_.valid() || ::fstat(owned_.get(), &held) != 0) return {};
  const std::string last = name_.substr(name_.rfind('/') + 1);
  if (::fstatat(folder_.get(), last.c_str(), &named, 0) == 0) {
    if (held.st_dev == named.st_dev && held.st_ino == named.st_ino) return {};
  } else if (errno != ENOENT) {
    return {};  // it cannot be told
  }
  return broken(fail(
      ErrorCode::io,
      fmt::format("the file was replaced or removed while it was appended to ({}): "
                  "what was written since then is {}",
                  name_, held.st_nlink == 0 ? "lost" : "in the old one, which has another name")));
}

Status Output::check_process() const {
  if (!status_ || process_.is_current()) return status_;
  return fail(ErrorCode::unavailable,
              fmt::format("this process is a fork of the one that writes the container ({}): write "
                          "there, or another one here",
                          name_));
}

Status Output::broken(Status status) {
  if (!status && status_) status_ = status;
  return status;
}

// What the buffer holds and the bytes in one call; what that leaves is written in the plain way.
Status Output::write_with_buffer(Bytes bytes) {
  const Bytes first = as_bytes(buffer_);
  const iovec vectors[] = {{buffer_.data(), buffer_.size()},
                           {const_cast<std::byte*>(bytes.data()), bytes.size()}};
  const ssize_t got = ::writev(fd_, vectors, 2);
  const size_t done = got < 0 ? 0 : static_cast<size_t>(got);
  const Bytes rest_of_first = first.subspan(std::min(done, first.size()));
  const Bytes rest = bytes.subspan(done - std::min(done, first.size()));
  Status status = write_full(fd_, rest_of_first.data(), rest_of_first.size(), name_);
  if (status) status = write_full(fd_, rest.data(), rest.size(), name_);
  buffer_.clear();
  return broken(status);
}

Status Output::write(Bytes bytes) {
  if (Status possible = check_process(); !possible) return possible;
  offset_ += bytes.size();
  if (bytes.size() >= kUncopied) return write_with_buffer(bytes);
  if (bytes.size() > kBufferSize - buffer_.size()) {
    if (Status flushed = flush(); !flushed) return flushed;
  }
  buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Status Output::zeros(size_t count) {
  static constexpr std::array<std::byte, size_t{1} << kMaxAlignmentLog2> kZeros{};
  return write(Bytes(kZeros).first(count));
}

Status Output::flush() {
  if (Status possible = check_process(); !possible || buffer_.empty()) return possible;
  return write_with_buffer({});
}

Status Output::sync(bool durable) {
  if (Status flushed = flush(); !flushed || !durable) return flushed;
  // Pipes and some devices have nothing to wait for.
  if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) {
    return broken(io_error("sync", name_));
  }
  return {};
}

Status Output::publish(bool durable) {
  if (Status possible = check_process(); !possible) return possible;
  if (!is_pending()) return {};
  const Status published = broken(file_->publish(durable));
  replaced_ = {};
  return published;
}

Result<OutputFile> Output::take_file() {
  if (Status flushed = flush(); !flushed) return flushed.error();
  return *std::move(file_);
}

Result<UniqueFd> Output::duplicate() const {
  if (Status possible = check_process(); !possible) return possible.error();
  UniqueFd same(::fcntl(fd_, F_DUPFD_CLOEXEC, 0));
  if (!same.valid()) return io_error("duplicate", name_);
  return same;
}

Status Output::restart_at(uint64_t offset) {
  if (Status possible = check_process(); !possible) return possible;
  if (::ftruncate(fd_, static_cast<off_t>(offset)) != 0 ||
      ::lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    return broken(io_error("truncate", name_));
  }
  offset_ = offset;
  cuttable_ = true;
  return {};
}

void Output::abandon(uint64_t offset) {
  const bool is_own = process_.is_current() && (owned_.valid() || file_);
  if (!is_own || !cuttable_ || is_pending()) return;
  // Where this fails the next writer does it; readers do not look behind the commit.
  if (::ftruncate(fd_, static_cast<off_t>(offset)) != 0) return;
}

}  // namespace hoist::container
