#include "ops/sort/temp_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ops/sort/messages.h"

extern char** environ;

namespace hoist::sort {
namespace {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> make_pipe(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == 0) return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  const int error = errno;
  return fail(
      ErrorCode::io,
      fmt::format("{}: {}",
                  translate("couldn't create process for %s -d", always_quote_name(program)),
                  std::strerror(error)),
      error);
}

// dup2() onto itself would leave close-on-exec set, so the child's ends come as fresh descriptors
// above the standard ones.
UniqueFd above_standard(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

}  // namespace

Result<Filter> Filter::start(const std::string& program, bool decompress, int input, int output) {
  const UniqueFd from = above_standard(input);
  const UniqueFd to = above_standard(output);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, from.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  // The child may be started by a thread that blocks signals.
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string name = program;
  char option[] = "-d";
  char* argv[] = {name.data(), decompress ? option : nullptr, nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, name.c_str(), &actions, &attributes, argv, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return Filter(pid, program);
  return fail(ErrorCode::unavailable,
              fmt::format("{}: errno {}", translate("couldn't execute compress program"), error),
              error);
}

Filter::Filter(Filter&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), program_(std::move(other.program_)) {}

Filter& Filter::operator=(Filter&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(program_, other.program_);
  return *this;
}

Filter::~Filter() { (void)wait(); }

Status Filter::wait() {
  if (pid_ < 0) return {};
  int status = 0;
  pid_t got;
  do {
    got = ::waitpid(pid_, &status, 0);
  } while (got < 0 && errno == EINTR);
  pid_ = -1;
  if (got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::io,
              translate("%s [-d] terminated abnormally", always_quote_name(program_)));
}

Status Run::open_output() {
  if (!compressed()) {
    UniqueFd fd(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 3));
    if (!fd.valid()) return io_error("open failed", name_, errno);
    output_.emplace(std::move(fd), name_);
    return {};
  }
  Result<Pipe> pipe = make_pipe(program_);
  if (!pipe) return pipe.error();
  Result<Filter> filter = Filter::start(program_, false, pipe->read_end.get(), file_.get());
  if (!filter) return filter.error();
  compressor_.emplace(std::move(*filter));
  output_.emplace(std::move(pipe->write_end), name_);
  return {};
}

Status Run::finish() {
  Status written = output_->finish();
  output_.reset();
  if (!written) return written;
  if (compressor_) {
    if (Status compressed = compressor_->wait(); !compressed) return compressed;
    compressor_.reset();
  }
  struct stat info;
  if (::fstat(file_.get(), &info) != 0) return io_error("stat failed", name_, errno);
  size_ = static_cast<uint64_t>(info.st_size);
  return {};
}

Result<LineReader> Run::decompress(char terminator, size_t block, std::optional<Filter>& filter) {
  if (::lseek(file_.get(), 0, SEEK_SET) < 0) return io_error("read failed", name_, errno);
  Result<Pipe> pipe = make_pipe(program_);
  if (!pipe) return pipe.error();
  Result<Filter> started = Filter::start(program_, true, file_.get(), pipe->write_end.get());
  if (!started) return started.error();
  filter.emplace(std::move(*started));
  return LineReader(std::move(pipe->read_end), name_, terminator, block);
}

TempFiles::TempFiles(std::vector<std::string> directories, std::string compress_program)
    : directories_(std::move(directories)), compress_program_(std::move(compress_program)) {
  if (!directories_.empty()) return;
  const char* const configured = std::getenv("TMPDIR");
  directories_.emplace_back(configured != nullptr ? configured : "/tmp");
}

namespace {

// mkostemp() and unlink() with no signal between them that could end the process; errno is
// mkostemp()'s.
int create_unlinked(std::string& name) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  const int error = errno;
  if (fd >= 0) ::unlink(name.c_str());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return fd;
}

}  // namespace

Result<Run> TempFiles::create() {
  const std::string& directory = directories_[next_directory_++ % directories_.size()];
  std::string name = directory + "/sortXXXXXX";
  UniqueFd file(create_unlinked(name));
  if (!file.valid()) {
    const int error = errno;
    return fail(
        ErrorCode::io,
        fmt::format("{}: {}",
                    translate("cannot create temporary file in %s", always_quote_name(directory)),
                    std::strerror(error)),
        error);
  }
  Run run(std::move(file), std::move(name), compress_program_);
  if (Status opened = run.open_output(); !opened) return opened.error();
  return run;
}

}  // namespace hoist::sort
