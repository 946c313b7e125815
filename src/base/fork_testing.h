// What the tests of fork() share.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace hoist {

// Whether `body()` was true in a child, which is killed where it hangs.
template <typename Body>
bool in_child(Body&& body) {
  constexpr unsigned kSeconds = 20;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSeconds);
    ::_exit(std::forward<Body>(body)() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hoist
