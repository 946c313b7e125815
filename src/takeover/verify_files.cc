#include "takeover/verify_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hoist {
namespace {

constexpr size_t kBlock = 256 << 10;

}  // namespace

IgnoredSignal::IgnoredSignal(int signal) : signal_(signal) {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(signal, &ignore, &before_);
}

IgnoredSignal::~IgnoredSignal() { ::sigaction(signal_, &before_, nullptr); }

UniqueFd temporary_file() {
  const char* directory = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/hoist-XXXXXX",
                                 directory != nullptr && directory[0] != '\0' ? directory : "/tmp");
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (fd.valid()) ::unlink(path.c_str());
  return fd;
}

bool has_room(int fd) {
  constexpr off_t kProbe = 1 << 20;
  const IgnoredSignal no_signal(SIGXFSZ);
  struct stat info;
  if (::fstat(fd, &info) != 0) return false;
  const bool grew = ::posix_fallocate(fd, info.st_size, kProbe) == 0;
  return ::ftruncate(fd, info.st_size) == 0 && grew;
}

bool same_content(int a, int b) {
  struct stat info_a;
  struct stat info_b;
  if (::fstat(a, &info_a) != 0 || ::fstat(b, &info_b) != 0) return false;
  if (info_a.st_size != info_b.st_size) return false;
  std::vector<char> left(kBlock);
  std::vector<char> right(kBlock);
  for (uint64_t at = 0; at < static_cast<uint64_t>(info_a.st_size); at += kBlock) {
    const Result<size_t> got_left = pread_full(a, left.data(), kBlock, at);
    const Result<size_t> got_right = pread_full(b, right.data(), kBlock, at);
    if (!got_left || !got_right || *got_left != *got_right ||
        std::memcmp(left.data(), right.data(), *got_left) != 0) {
      return false;
    }
  }
  return true;
}

bool mentions_lack_of_room(int fd) {
  std::string text(kBlock, '\0');
  const Result<size_t> size = pread_full(fd, text.data(), text.size(), 0);
  if (!size) return true;
  text.resize(*size);
  const auto mentions = [&](int code) {
    // As the locale words it, and as a program without one does.
    return text.find(std::strerror(code)) != std::string::npos ||
           text.find(::strerrordesc_np(code)) != std::string::npos;
  };
  return mentions(ENOSPC) || mentions(EDQUOT) || mentions(EFBIG);
}

Status copy_out(int from, int to) {
  std::vector<char> block(kBlock);
  for (uint64_t at = 0;; at += kBlock) {
    const Result<size_t> got = pread_full(from, block.data(), kBlock, at);
    if (!got) return got.error();
    if (*got > 0) {
      if (Status written = write_full(to, block.data(), *got); !written) return written;
    }
    if (*got < kBlock) return {};
  }
}

}  // namespace hoist
