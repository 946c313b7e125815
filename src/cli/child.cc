#include "cli/child.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/report.h"

namespace hoist::cli {
namespace {

// All signals but those that tell of a fault of our own, that the terminal sends to a background
// process for what it does itself, and that cannot be had.
sigset_t watched_signals() {
  sigset_t set;
  ::sigfillset(&set);
  for (const int own :
       {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGTTIN, SIGTTOU, SIGKILL, SIGSTOP}) {
    ::sigdelset(&set, own);
  }
  return set;
}

// What the terminal sends, it sends to the whole foreground group, the child included. A hang-up of
// a session reaches its leader first and the group when the leader has ended.
bool is_from_terminal(int signal) {
  if (signal == SIGHUP) return ::getsid(0) != ::getpid();
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP || signal == SIGWINCH;
}

// Whether the child has not got the signal already. A process of our group most likely signalled
// the whole group, `kill 0`, unless it is our parent, who knows us by number (sudo's rule). SIGCONT
// may come twice without harm, and must not be lost: the child may be stopped.
bool is_for_us_alone(const siginfo_t& info) {
  if (info.si_signo == SIGCONT) return true;
  if (info.si_code == SI_KERNEL) return !is_from_terminal(info.si_signo);
  const bool from_process =
      info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
  if (!from_process || info.si_pid <= 0 || info.si_pid == ::getppid()) return true;
  return ::getpgid(info.si_pid) != ::getpgrp();
}

void pass_on(pid_t child, const siginfo_t& info) {
  if (info.si_code == SI_QUEUE) {
    ::sigqueue(child, info.si_signo, info.si_value);
  } else {
    ::kill(child, info.si_signo);
  }
}

bool is_terminal_stop(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// Waits without blocking; true when the child has ended. A child that the terminal stopped stops us
// as well, so that the shell gets its prompt back. One that was stopped with SIGSTOP is somebody's
// who will continue it, and does not know of us.
bool has_ended(pid_t child, int& status) {
  while (true) {
    const pid_t changed = ::waitpid(child, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed < 0 && errno == EINTR) continue;
    if (changed <= 0) return false;
    if (WIFEXITED(status) || WIFSIGNALED(status)) return true;
    if (!WIFSTOPPED(status) || !is_terminal_stop(WSTOPSIG(status))) continue;
    ::raise(SIGSTOP);
    ::kill(child, SIGCONT);  // we run again, so the child shall
  }
}

int watch(pid_t child, const sigset_t& signals) {
  int status = 0;
  while (!has_ended(child, status)) {
    siginfo_t info;
    const int signal = ::sigwaitinfo(&signals, &info);
    if (signal > 0 && signal != SIGCHLD && is_for_us_alone(info)) pass_on(child, info);
  }
  return status;
}

}  // namespace

int execute_program(const std::vector<std::string>& program) {
  std::vector<char*> argv;
  argv.reserve(program.size() + 1);
  for (const std::string& word : program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const bool missing = errno == ENOENT;
  report(
      {ErrorCode::not_found, fmt::format("cannot run {} ({}): check its name and {}", program[0],
                                         std::strerror(errno), missing ? "PATH" : "permissions")});
  return missing ? 127 : 126;
}

Result<int> run_child(const std::vector<std::string>& program,
                      const std::function<void()>& in_child) {
  const sigset_t signals = watched_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  // Under an ignored SIGCHLD, which exec hands on, children vanish without a status.
  struct sigaction children {};
  struct sigaction inherited {};
  children.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &children, &inherited);
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::sigaction(SIGCHLD, &inherited, nullptr);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return fail(ErrorCode::exhausted,
                fmt::format("there can be no second process: {}", std::strerror(error)));
  }
  if (child == 0) {
    ::sigaction(SIGCHLD, &inherited, nullptr);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (in_child) in_child();
    ::_exit(execute_program(program));
  }
  const int status = watch(child, signals);
  // What follows is for us: the program's end is to be reported even where nobody reads it, or
  // where no file may grow.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return status;
}

int exit_status_of(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  const struct rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(signal, SIG_DFL);
  sigset_t unblocked;
  ::sigemptyset(&unblocked);
  ::sigaddset(&unblocked, signal);
  ::sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
  ::raise(signal);
  return 128 + signal;  // as a shell reports it, should the signal not have ended us
}

}  // namespace hoist::cli
