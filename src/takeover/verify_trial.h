// The two programs of a verified run as child processes.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <optional>
#include <span>

#include "base/file.h"
#include "takeover/takeover.h"
#include "takeover/verify_files.h"

namespace hoist {

// What one of the programs did.
struct Trial {
  UniqueFd out = temporary_file();
  UniqueFd err = temporary_file();
  std::optional<int> status;  // as from waitpid(); nothing where it cannot be learnt

  bool valid() const { return out.valid() && err.valid(); }
};

// Runs them one after the other. While an object lives, SIGHUP, SIGINT and SIGTERM go on to the
// running child, after whose end this process ends likewise; the children die with this process.
// One object at a time.
class Trials {
 public:
  enum class Outcome { in_child, ended, not_started };

  Trials();
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;
  ~Trials() { restore_signals(); }

  // Returns twice, as fork() does: in the child, with its output going into the trial's files and
  // signals as they were inherited, and here once the child has ended.
  Outcome fork(Trial& trial);
  // The same for the original program, started without us.
  Outcome run_original(const Takeover& takeover, Trial& trial);

 private:
  void restore_signals() const;
  void die_if_asked_to() const;

  static constexpr std::array kForwarded = {SIGHUP, SIGINT, SIGTERM};
  std::array<struct sigaction, kForwarded.size()> forwarded_before_;
  struct sigaction sigchld_before_;
};

// Ends as the program with this wait status did: by the same signal, or by returning the exit
// status to be returned from main.
int end_like(int status);

}  // namespace hoist
