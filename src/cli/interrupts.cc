#include "cli/interrupts.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <initializer_list>

namespace hoist::cli {
namespace {

std::atomic<int> interrupted_by{0};  // any thread may get the signal, and ask
std::atomic<const char*> directory{nullptr};
std::atomic<void (*)()> end_besides{nullptr};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<const char*>::is_always_lock_free);
static_assert(std::atomic<void (*)()>::is_always_lock_free);

// Waits until `parent` is gone, and becomes rm(1). Out of the parent's process group, so that what
// the terminal sends to the group does not end it.
[[noreturn]] void remove_after(pid_t parent, const char* path) {
  ::setpgid(0, 0);
  constexpr struct timespec kLook = {0, 1'000'000};
  while (::getppid() == parent) ::nanosleep(&kLook, nullptr);
  const char* const argv[] = {"rm", "-rf", "--", path, nullptr};
  ::execv("/bin/rm", const_cast<char* const*>(argv));
  ::_exit(127);
}

// Only what a signal handler may call.
void remove_directory() {
  const char* const path = directory.exchange(nullptr);
  if (path == nullptr) return;
  const pid_t parent = ::getpid();
  if (::_Fork() == 0) remove_after(parent, path);
}

void note(int number) {
  const bool is_second = interrupted_by.exchange(number) != 0;
  if (void (*const end)() = end_besides) end();
  if (!is_second) return;
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

void end_when_interrupted(void (*end)()) { end_besides = end; }

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
