#include "cli/interrupts.h"

#include <signal.h>

#include <atomic>
#include <cstdio>
#include <initializer_list>

namespace hoist::cli {
namespace {

std::atomic<int> interrupted_by{0};  // any thread may get the signal, and ask
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { interrupted_by = number; };
  action.sa_flags = SA_RESETHAND;
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
}

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
