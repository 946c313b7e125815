#include "cli/interrupts.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <initializer_list>

namespace hoist::cli {
namespace {

std::atomic<int> interrupted_by{0};  // any thread may get the signal, and ask
std::atomic<const char*> directory{nullptr};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<const char*>::is_always_lock_free);

// Only what a signal handler may call.
void remove_directory() {
  const char* const path = directory.exchange(nullptr);
  if (path == nullptr) return;
  const pid_t child = ::_Fork();
  if (child == 0) {
    const char* const argv[] = {"rm", "-rf", "--", path, nullptr};
    ::execv("/bin/rm", const_cast<char* const*>(argv));
    ::_exit(127);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

void note(int number) {
  if (interrupted_by.exchange(number) == 0) return;
  remove_directory();
  ::signal(number, SIG_DFL);
  ::raise(number);  // it ends the process when this returns
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note;
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
}

void remove_when_ended(const char* path) { directory = path; }

bool is_interrupted() { return interrupted_by != 0; }

int end_if_interrupted(int status) {
  const int number = interrupted_by;
  if (number == 0) return status;
  std::fflush(stdout);
  ::signal(number, SIG_DFL);
  ::raise(number);
  return 128 + number;  // where it is blocked
}

}  // namespace hoist::cli
