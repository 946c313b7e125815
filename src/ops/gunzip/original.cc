#include "ops/gunzip/original.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>

#include "base/file.h"

namespace hoist::gunzip {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

bool make_pipe(Pipe& pipe) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  pipe.read_end = UniqueFd(ends[0]);
  pipe.write_end = UniqueFd(ends[1]);
  return true;
}

ssize_t read_once(int fd, void* data, size_t size) {
  ssize_t got;
  do {
    got = ::read(fd, data, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Up to two bytes from a pipe that stay in it: tee(2) copies them into a pipe of our own.
size_t peek_pipe(int fd, std::array<uint8_t, 2>& bytes) {
  Pipe copy;
  if (!make_pipe(copy)) return 0;
  ssize_t got;
  do {
    got = ::tee(fd, copy.write_end.get(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  const Result<size_t> size =
      read_full(copy.read_end.get(), bytes.data(), static_cast<size_t>(got));
  return size ? *size : 0;
}

// Starts the original after `prepare` has run in the child; its pid, or -1.
pid_t start_original(const Takeover& takeover, const std::vector<std::string>& arguments,
                     const char* reason, const std::function<void()>& prepare) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  prepare();
  Takeover request = takeover;
  request.argv = arguments;
  ::_exit(step_aside(request, kOperation, reason));
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

// Passes on what comes out of `from`, less its first `skip` bytes.
void pass_on(int from, uint64_t skip) {
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = read_once(from, block.data(), block.size());
    if (got <= 0) return;
    const size_t skipped = std::min(static_cast<uint64_t>(got), skip);
    skip -= skipped;
    if (!write_full(STDOUT_FILENO, block.data() + skipped, static_cast<size_t>(got) - skipped)) {
      return;  // the original then finds its output closed
    }
  }
}

void feed(int to, const std::string& first, InputBuffer& rest) {
  static constexpr char kEmptyMember[] =
      "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0";  // and the string's own NUL
  if (!write_full(to, kEmptyMember, sizeof kEmptyMember) ||
      !write_full(to, first.data(), first.size())) {
    return;
  }
  while (rest.more()) {
    if (!write_full(to, rest.next, static_cast<size_t>(rest.end - rest.next))) return;
    rest.next = rest.end;
  }
}

}  // namespace

bool begins_with_gzip_magic(int fd, const struct stat& info) {
  std::array<uint8_t, 2> magic{};
  if (S_ISREG(info.st_mode)) {
    const off_t position = ::lseek(fd, 0, SEEK_CUR);
    if (position < 0) return false;
    const Result<size_t> size =
        pread_full(fd, magic.data(), magic.size(), static_cast<uint64_t>(position));
    if (!size || *size < magic.size()) return false;
  } else if (!S_ISFIFO(info.st_mode) || peek_pipe(fd, magic) < magic.size()) {
    return false;
  }
  return magic[0] == 0x1f && (magic[1] == 0x8b || magic[1] == 0x9e);
}

int run_original(const Takeover& takeover, const std::vector<std::string>& arguments,
                 const char* reason, uint64_t already_written) {
  Pipe output;
  if (already_written > 0 && !make_pipe(output)) return 1;
  const pid_t pid = start_original(takeover, arguments, reason, [&] {
    if (output.write_end.valid()) ::dup2(output.write_end.get(), STDOUT_FILENO);
  });
  if (pid < 0) return 1;
  if (output.read_end.valid()) {
    output.write_end.reset();
    pass_on(output.read_end.get(), already_written);
    output.read_end.reset();
  }
  return wait_for(pid);
}

int run_original_on_rest(const Takeover& takeover, const std::vector<std::string>& arguments,
                         const char* reason, const std::string& first, InputBuffer& rest) {
  Pipe input;
  if (!make_pipe(input)) return 1;
  const pid_t pid = start_original(takeover, arguments, reason,
                                   [&] { ::dup2(input.read_end.get(), STDIN_FILENO); });
  if (pid < 0) return 1;
  input.read_end.reset();
  const auto before = ::signal(SIGPIPE, SIG_IGN);  // the original may stop reading
  feed(input.write_end.get(), first, rest);
  ::signal(SIGPIPE, before);
  input.write_end.reset();
  return wait_for(pid);
}

}  // namespace hoist::gunzip
