#include "device/remote/start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/options.h"
#include "device/cuda_environment.h"
#include "device/remote/futex.h"
#include "device/remote/message.h"

namespace hoist::device::remote {
namespace {

// Beside the library or the program that this code is part of: PREFIX/lib, PREFIX/bin, PREFIX/tests
// or PREFIX/libexec/hoist.
std::string find_program() {
  std::error_code ignored;
  std::vector<std::filesystem::path> homes = {
      std::filesystem::read_symlink("/proc/self/exe", ignored)};
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&find_program), &info) != 0 &&
      info.dli_fname != nullptr && info.dli_fname[0] == '/') {
    homes.insert(homes.begin(), info.dli_fname);
  }
  for (const std::filesystem::path& home : homes) {
    for (const char* folder : {"../bin/hoistd", "../../bin/hoistd"}) {
      const std::filesystem::path path = home.parent_path() / folder;
      if (::access(path.c_str(), X_OK) == 0) return path.string();
    }
  }
  return {};
}

// All that the new processes need, made before they are: they share this one's memory and must
// call nothing but the kernel.
struct Launch {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int null;  // /dev/null
  char* stack_top;
};

void close_descriptors() {
  if (::syscall(SYS_close_range, 3, UINT_MAX, 0) == 0) return;
  // Before Linux 5.9, or under a filter of system calls that is as old.
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kMost = 1 << 20;
  for (int fd = 3; fd < static_cast<int>(std::min(limit.rlim_max, kMost)); ++fd) ::close(fd);
}

// What holds for the program does not for the daemon, which serves others, too: the processors and
// memory nodes that ranks of a parallel program are bound to, and limits that would end it.
void loosen() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
  constexpr int kDefault = 0;  // MPOL_DEFAULT of linux/mempolicy.h
  ::syscall(SYS_set_mempolicy, kDefault, nullptr, 0);
  for (const auto resource : {RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit = {};
    if (::getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(resource, &limit);
  }
}

int become_daemon(void* data) {
  const auto& launch = *static_cast<const Launch*>(data);
  ::setsid();
  for (int stream = 0; stream < 3; ++stream) ::dup2(launch.null, stream);
  close_descriptors();
  loosen();
  if (::chdir("/") == 0) {
    for (const int number : {SIGPIPE, SIGCHLD, SIGTERM, SIGINT, SIGHUP}) {
      ::signal(number, SIG_DFL);  // what the program ignores would stay ignored
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(launch.program, launch.arguments, launch.environment);
  }
  ::_exit(127);
}

// Its end makes the daemon an orphan.
int bear_daemon(void* data) {
  const auto& launch = *static_cast<const Launch*>(data);
  ::_exit(::clone(become_daemon, launch.stack_top, CLONE_VM | CLONE_VFORK | SIGCHLD, data) < 0);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The program's, without what is meant for programs below `hoist run`, or for this one's results.
std::vector<std::string> environment_of_daemon() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool log = text.starts_with("HOIST_LOG");
    if (text.starts_with("LD_") || (text.starts_with("HOIST") && !log)) continue;
    if (changes_precision(text)) continue;
    variables.emplace_back(text);
  }
  return variables;
}

Status launch(std::vector<std::string> words) {
  constexpr size_t kStack = 64 * 1024;
  std::vector<std::string> variables = environment_of_daemon();
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> environment = pointers_to(variables);
  const Result<UniqueFd> null = open_file("/dev/null", O_RDWR);
  if (!null) return null.error();
  std::vector<char> stacks(2 * kStack);
  Launch launch = {words[0].c_str(), arguments.data(), environment.data(), null->get(),
                   stacks.data() + 2 * kStack};
  // No handler of the program's may run in a process that shares its memory.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // Without an exit signal: neither SIGCHLD nor wait() tells the program of it.
  const int child = ::clone(bear_daemon, stacks.data() + kStack, CLONE_VM | CLONE_VFORK, &launch);
  const int code = errno;
  int status = -1;
  if (child > 0) {
    while (::waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return fail(ErrorCode::unavailable, std::strerror(code), code);
  if (status != 0) return fail(ErrorCode::unavailable, "hoistd cannot be started: no process");
  return {};
}

bool answers(const std::string& socket) {
  if (!socket.empty()) return connect_to(socket).has_value();
  for (const std::string& path : socket_paths()) {
    if (connect_to(path)) return true;
  }
  return false;
}

}  // namespace

Status start_private_daemon(const StartOptions& options) {
  if (hoist_is_off()) return fail(ErrorCode::unavailable, "no hoistd: HOIST=off");
  if (answers(options.socket)) return {};
  int adopts = 0;
  if (::prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0) {
    return fail(ErrorCode::unavailable,
                "no hoistd: the program waits for orphans, of which it would be one; start one");
  }
  const std::string program = options.program.empty() ? find_program() : options.program;
  if (program.empty()) return fail(ErrorCode::unavailable, "hoistd is not installed (bin/hoistd)");
  const std::string socket = options.socket.empty() ? socket_paths().front() : options.socket;
  if (const Result<UniqueFd> there = connect_to(socket);
      !there && there.error().code == ErrorCode::invalid_argument) {
    return there.error();
  }
  if (const Result<std::string> own = user_socket_path(); own && socket.starts_with(*own)) {
    ::mkdir(std::filesystem::path(socket).parent_path().c_str(), 0700);
  }
  Status launched = launch({program, "--socket", socket, "--device", options.device,
                            "--idle-timeout", fmt::format("{}", options.idle.count())});
  if (!launched || options.wait.count() == 0) return launched;
  constexpr std::chrono::milliseconds kStep{2};
  for (auto waited = kStep; waited <= options.wait; waited += kStep) {
    std::this_thread::sleep_for(kStep);
    if (answers(options.socket)) return {};
  }
  return fail(ErrorCode::unavailable, "hoistd was started and does not answer yet");
}

}  // namespace hoist::device::remote
