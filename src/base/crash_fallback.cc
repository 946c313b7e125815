#include "base/crash_fallback.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/counters_layout.h"
#include "base/file.h"
#include "base/options.h"

namespace hoist {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsWatching = false;
#else
constexpr bool kIsWatching = true;
#endif

struct Fault {
  int signal;
  const char* name;
};
constexpr Fault kFaults[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},  {SIGILL, "SIGILL"},
                             {SIGFPE, "SIGFPE"},   {SIGSYS, "SIGSYS"},  {SIGABRT, "SIGABRT"},
                             {SIGTRAP, "SIGTRAP"}, {SIGXFSZ, "SIGXFSZ"}};

// `leaving`: a thread is about to start the original, which ends all others.
enum class State { unwatched, untouched, committed, leaving };
std::atomic<State> state = State::unwatched;

// All that the handler needs, made before: it may call nothing but the kernel. Never freed.
struct Prepared {
  pid_t owner;
  std::string path;
  char** argv;
  std::vector<char*> environment;  // ends with `skip` and a null
  char skip[128];
  size_t reason_at;  // in `skip`
  std::string log_file;
  sigset_t blocked;
  cpu_set_t affinity;
  bool has_affinity;
  off_t input_start;  // -1: standard input is no regular file
};
Prepared* prepared = nullptr;
std::atomic<const char*> file_to_remove = nullptr;
std::atomic<pid_t> leaver = 0;  // the thread that starts the original
std::terminate_handler terminate_otherwise = nullptr;

[[noreturn]] void wait_for_the_end() {
  while (true) ::pause();
}

void log_crash(const char* reason) {
  if (prepared->log_file.empty()) return;
  char line[256];
  const int length = std::snprintf(line, sizeof line, "hoist[%d] error: %s: left to %s\n",
                                   static_cast<int>(::getpid()), reason, prepared->path.c_str());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file = ::open(prepared->log_file.c_str(), kFlags, 0600);
  if (file < 0 || length <= 0) return;
  const size_t size = std::min(static_cast<size_t>(length), sizeof line - 1);
  if (may_grow(file, size)) (void)!::write(file, line, size);
  ::close(file);
}

// Returns where it is too late, or the original cannot be started.
void leave(const char* reason) {
  State expected = State::untouched;
  if (!state.compare_exchange_strong(expected, State::leaving)) {
    // A second fault of the thread that leaves must not have it wait for itself.
    if (expected == State::leaving && leaver != ::gettid()) wait_for_the_end();
    return;
  }
  leaver = ::gettid();
  if (const char* path = file_to_remove.load()) ::unlink(path);
  if (prepared->input_start >= 0) ::lseek(STDIN_FILENO, prepared->input_start, SEEK_SET);
  char* const target = prepared->skip + prepared->reason_at;
  const size_t room = sizeof prepared->skip - prepared->reason_at;
  const size_t length = std::min(std::strlen(reason), room - 1);
  std::memcpy(target, reason, length);
  target[length] = '\0';
  log_crash(reason);
  // What the next program would inherit from this thread.
  if (prepared->has_affinity) {
    ::sched_setaffinity(0, sizeof prepared->affinity, &prepared->affinity);
  }
  ::pthread_sigmask(SIG_SETMASK, &prepared->blocked, nullptr);
  ::execve(prepared->path.c_str(), prepared->argv, prepared->environment.data());
  state = State::committed;
}

// Not what somebody else sends, which is to end the program as it would have ended the original.
bool is_own_fault(const siginfo_t& info) { return info.si_code > 0 || info.si_pid == ::getpid(); }

void on_fault(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  if (is_own_fault(*info) && ::getpid() == prepared->owner) {
    char reason[64] = "engine crashed: ";
    for (const Fault& fault : kFaults) {
      if (fault.signal == signal) std::strcat(reason, fault.name);
    }
    leave(reason);
  }
  errno = saved;
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  // A fault comes again when the handler returns; what was sent has to be sent again.
  if (info->si_code <= 0 || signal == SIGSYS) ::raise(signal);
}

// An exception that nobody catches: said by nobody but the original, where that still can run.
[[noreturn]] void on_terminate() {
  const char* reason = "engine failed";
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    reason = "engine ran out of memory";
  } catch (...) {
  }
  run_original_instead(reason);
  terminate_otherwise();
  std::abort();
}

// Room for the handler where the stack has none left.
void prepare_stack() {
  constexpr size_t kSize = size_t{64} << 10;
  static char memory[kSize];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kSize;
  ::sigaltstack(&stack, nullptr);
}

void install_handlers() {
  prepare_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  // A fault in the handler ends the process.
  ::sigemptyset(&action.sa_mask);
  for (const Fault& fault : kFaults) ::sigaddset(&action.sa_mask, fault.signal);
  for (const Fault& fault : kFaults) {
    struct sigaction before;
    // What is ignored stays so: the program's caller has asked for it.
    if (::sigaction(fault.signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
      ::sigaction(fault.signal, &action, nullptr);
    }
  }
}

off_t start_of_input() {
  struct stat info;
  const bool is_file = ::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode);
  return is_file ? ::lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

}  // namespace

void watch_for_crashes(const std::string& original, char** argv) {
  if (!kIsWatching || original.empty() || prepared != nullptr) return;
  prepared = new Prepared{};
  prepared->owner = ::getpid();
  prepared->path = original;
  prepared->argv = argv;
  prepared->log_file = option_text(OptionId::log_file);
  prepared->reason_at = static_cast<size_t>(std::snprintf(prepared->skip, sizeof prepared->skip,
                                                          "%s=%d:", HOIST_SKIP_ENV,
                                                          static_cast<int>(prepared->owner)));
  for (char** entry = environ; *entry != nullptr; ++entry) prepared->environment.push_back(*entry);
  prepared->environment.push_back(prepared->skip);
  prepared->environment.push_back(nullptr);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &prepared->blocked);
  prepared->has_affinity =
      ::sched_getaffinity(0, sizeof prepared->affinity, &prepared->affinity) == 0;
  prepared->input_start = start_of_input();
  state = State::untouched;
  terminate_otherwise = std::set_terminate(on_terminate);
  install_handlers();
}

void commit_run() {
  State expected = state.load(std::memory_order_acquire);
  if (expected == State::untouched) state.compare_exchange_strong(expected, State::committed);
  // What this thread is about to do would come beside what the original does.
  if (expected == State::leaving && ::getpid() == prepared->owner) wait_for_the_end();
}

void commit_run_unless_rereadable(int fd) {
  if (state.load(std::memory_order_acquire) != State::untouched) return;
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) commit_run();
}

void remove_on_crash(const char* path) { file_to_remove = path; }

void run_original_instead(const char* reason) {
  if (prepared != nullptr && ::getpid() == prepared->owner) leave(reason);
}

sigset_t signals_for_threads_to_block() {
  sigset_t set;
  ::sigfillset(&set);
  if (prepared == nullptr) return set;
  for (const Fault& fault : kFaults) ::sigdelset(&set, fault.signal);
  return set;
}

}  // namespace hoist
