#include "takeover/takeover.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/counters.h"
#include "base/crash_fallback.h"
#include "base/file.h"
#include "base/log.h"
#include "base/option_values.h"
#include "takeover/enabled_operations.h"

namespace hoist {
namespace {

bool is_executable(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Splits off the text before the next ':'; the last field keeps its colons.
std::string next_field(std::string_view& rest) {
  const size_t colon = rest.find(':');
  const std::string field(rest.substr(0, colon));
  rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  return field;
}

// The first `program` in PATH that is executable and that `accept` takes.
template <typename Accept>
std::string search_path(const std::string& program, Accept&& accept) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    const std::string candidate =
        fmt::format("{}/{}", directory.empty() ? "." : directory, program);
    if (is_executable(candidate) && accept(candidate)) return candidate;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

bool is_this_program(const std::string& path) {
  struct stat own;
  struct stat other;
  return ::stat("/proc/self/exe", &own) == 0 && ::stat(path.c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

bool is_binary(const std::string& path) {
  char magic[SELFMAG];
  const Result<UniqueFd> fd = open_file(path, O_RDONLY);
  if (!fd) return ::access(path.c_str(), R_OK) != 0;  // a script could not be run unread
  const Result<size_t> got = read_full(fd->get(), magic, SELFMAG);
  return got && *got == SELFMAG && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

}  // namespace

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_executable(program) ? program : "";
  return search_path(program, [](const std::string&) { return true; });
}

std::string find_original(const std::string& program) {
  const bool is_script = program == "gunzip" || program == "zcat";
  return search_path(program, [&](const std::string& path) {
    return !is_this_program(path) && (is_script || is_binary(path));
  });
}

std::string_view base_name(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Takeover begin_takeover(int argc, char** argv, std::string_view default_program) {
  Takeover takeover;
  takeover.argv.assign(argv, argv + argc);
  if (const char* given = std::getenv(HOIST_TAKEOVER_ENV)) {
    std::string_view rest = given;
    takeover.program = next_field(rest);
    takeover.package = next_field(rest);
    takeover.version = next_field(rest);
    takeover.original_path = std::string(rest);
  } else {
    takeover.program = argc > 0 ? std::string(base_name(argv[0])) : std::string(default_program);
    if (takeover.program.starts_with("hoist-")) takeover.program = std::string(default_program);
    takeover.original_path = find_original(takeover.program);
  }
  takeover.recognised = std::getenv(HOIST_RECOGNISED_ENV) != nullptr;
  ::unsetenv(HOIST_TAKEOVER_ENV);
  ::unsetenv(HOIST_RECOGNISED_ENV);
  ::unsetenv(HOIST_SKIP_ENV);
  // As exec would name it, whatever file the program was copied to.
  const std::string& file =
      takeover.original_path.empty() ? takeover.program : takeover.original_path;
  ::prctl(PR_SET_NAME, std::string(base_name(file)).c_str());
  watch_for_crashes(takeover.original_path, argv);
  log_unusable_values();
  return takeover;
}

void exec_original(const Takeover& takeover) {
  if (takeover.original_path.empty()) return;
  // Without memory for that, nobody may look at the program again, and start us without end.
  if (::setenv(HOIST_SKIP_ENV, std::to_string(::getpid()).c_str(), 1) != 0) {
    ::unsetenv("LD_PRELOAD");
  }
  std::vector<char*> argv;
  argv.reserve(takeover.argv.size() + 1);
  for (const std::string& word : takeover.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(takeover.original_path.c_str(), argv.data());
}

int step_aside(const Takeover& takeover, std::string_view operation, std::string_view reason) {
  // Without a segment to share there is nobody to tell, and one of our own would outlive the exec.
  if (std::getenv(HOIST_COUNTERS_ENV) != nullptr) {
    Counters& counters = Counters::process();
    counters.add_program(::getpid(), takeover.argv, false, reason);
    counters.add_passed(operation, reason);
  }
  log(LogLevel::info, "{}: left to {}: {}", takeover.program, takeover.original_path, reason);
  exec_original(takeover);
  std::fputs(fmt::format("hoist: error: this needs the original {} ({}): install it\n",
                         takeover.program, reason)
                 .c_str(),
             stderr);
  return 3;
}

void confirm_takeover(const Takeover& takeover, std::string_view reason) {
  Counters::process().add_program(::getpid(), takeover.argv, true, reason);
  log(LogLevel::info, "{}: taken over: {}", takeover.program, reason);
}

}  // namespace hoist
