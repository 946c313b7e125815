#include "takeover/verify_trial.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/options.h"

namespace hoist {
namespace {

// For the signal handler.
volatile sig_atomic_t running_child = 0;
volatile sig_atomic_t received_signal = 0;

void forward(int signal) {
  received_signal = signal;
  if (running_child > 0) ::kill(running_child, signal);
}

// The signals are blocked: the handler must know the child before it runs.
class BlockedSignals {
 public:
  explicit BlockedSignals(std::span<const int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

std::optional<int> wait_for(pid_t pid) {
  siginfo_t info;
  int waited;
  // The process number is still the child's until the second wait: no signal goes elsewhere.
  do {
    waited = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  } while (waited < 0 && errno == EINTR);
  running_child = 0;
  int status = 0;
  pid_t ended;
  do {
    ended = ::waitpid(pid, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == pid ? std::optional(status) : std::nullopt;
}

}  // namespace

Trials::Trials() {
  received_signal = 0;
  // Where it is ignored, the system keeps no status of a child.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, &sigchld_before_);
  struct sigaction action = {};
  action.sa_handler = forward;
  for (size_t i = 0; i < kForwarded.size(); ++i) {
    ::sigaction(kForwarded[i], nullptr, &forwarded_before_[i]);
    if (forwarded_before_[i].sa_handler != SIG_IGN) ::sigaction(kForwarded[i], &action, nullptr);
  }
}

void Trials::restore_signals() const {
  ::sigaction(SIGCHLD, &sigchld_before_, nullptr);
  for (size_t i = 0; i < kForwarded.size(); ++i) {
    ::sigaction(kForwarded[i], &forwarded_before_[i], nullptr);
  }
}

void Trials::die_if_asked_to() const {
  if (received_signal == 0) return;
  restore_signals();
  std::exit(end_like(received_signal));
}

Trials::Outcome Trials::fork(Trial& trial) {
  die_if_asked_to();
  const pid_t parent = ::getpid();
  pid_t child;
  {
    const BlockedSignals blocked(kForwarded);
    child = ::fork();
    if (child > 0) running_child = child;
    if (child == 0) restore_signals();
  }
  if (child < 0) return Outcome::not_started;
  if (child > 0) {
    trial.status = wait_for(child);
    die_if_asked_to();
    return Outcome::ended;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);
  ::dup2(trial.out.get(), STDOUT_FILENO);
  ::dup2(trial.err.get(), STDERR_FILENO);
  set_option(OptionId::verify, "0");
  return Outcome::in_child;
}

Trials::Outcome Trials::run_original(const Takeover& takeover, Trial& trial) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Outcome::not_started;
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  Outcome outcome = fork(trial);
  char failed = 0;
  if (outcome == Outcome::in_child) {
    exec_original(takeover);
    (void)write_full(write_end.get(), &failed, 1);
    ::_exit(127);
  }
  // Closed on exec: only a child that is still ours could have written.
  write_end.reset();
  const Result<size_t> got = read_full(read_end.get(), &failed, 1);
  if (outcome == Outcome::ended && (!got || *got > 0)) outcome = Outcome::not_started;
  return outcome;
}

int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const struct rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

}  // namespace hoist
