#include "cli/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"

namespace hoist::cli {
namespace {

constexpr off_t kMaximumOutput = off_t{64} << 20;
constexpr unsigned kMaximumSeconds = 120;

[[noreturn]] void execute(const Command& command, int output, int errors) {
  for (const char* name :
       {"LD_PRELOAD", "GZIP", "POSIXLY_CORRECT", "_POSIX2_VERSION", "HOIST_TAKEOVER"}) {
    ::unsetenv(name);
  }
  for (const std::string& variable : command.variables) {
    ::putenv(const_cast<char*>(variable.c_str()));
  }
  std::vector<char*> argv;
  argv.reserve(command.words.size() + 1);
  for (const std::string& word : command.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::alarm(kMaximumSeconds);
  if (::chdir(command.directory.c_str()) == 0) {
    const int input = ::open(command.standard_input.c_str(), O_RDONLY);
    if (input >= 0 && ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
        ::dup2(errors, STDERR_FILENO) >= 0) {
      if (input > STDERR_FILENO) ::close(input);
      ::execv(command.file.c_str(), argv.data());
    }
  }
  ::_exit(127);
}

Result<std::string> content_of(const UniqueFd& file, const std::string& what) {
  struct stat info;
  if (::fstat(file.get(), &info) != 0 || info.st_size > kMaximumOutput) {
    return fail(ErrorCode::exhausted, fmt::format("{} prints too much", what));
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  const Result<size_t> got = pread_full(file.get(), text.data(), text.size(), 0, what);
  if (!got) return got.error();
  text.resize(*got);
  return text;
}

Error cannot(std::string_view what, const std::string& file) {
  return {ErrorCode::exhausted, fmt::format("cannot {} {}: {}", what, file, std::strerror(errno)),
          errno};
}

}  // namespace

Result<Outcome> run_captured(const Command& command) {
  const UniqueFd output(::memfd_create("stdout", MFD_CLOEXEC));
  const UniqueFd errors(::memfd_create("stderr", MFD_CLOEXEC));
  if (!output.valid() || !errors.valid()) {
    return cannot("keep the output of", command.file);
  }
  const pid_t pid = ::fork();
  if (pid < 0) return cannot("start", command.file);
  if (pid == 0) execute(command, output.get(), errors.get());
  Outcome outcome;
  while (::waitpid(pid, &outcome.status, 0) < 0) {
    if (errno != EINTR) return cannot("wait for", command.file);
  }
  Result<std::string> text = content_of(output, command.file);
  if (!text) return text.error();
  outcome.output = std::move(*text);
  text = content_of(errors, command.file);
  if (!text) return text.error();
  outcome.errors = std::move(*text);
  return outcome;
}

}  // namespace hoist::cli
