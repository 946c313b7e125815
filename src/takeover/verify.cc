#include "takeover/verify.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstring>
#include <random>

#include "base/counters.h"
#include "base/crash_fallback.h"
#include "base/log.h"
#include "base/option_values.h"
#include "takeover/enabled_operations.h"
#include "takeover/verify_files.h"
#include "takeover/verify_input.h"
#include "takeover/verify_trial.h"

namespace hoist {
namespace {

bool drawn() {
  const double share = verification_rate();
  if (share >= 1) return true;
  std::random_device random;
  return share > 0 && std::uniform_real_distribution<double>(0, 1)(random) < share;
}

void count_left_out(std::string_view operation, std::string_view why) {
  Counters::process().add_passed(operation, fmt::format("verify: left out ({})", why));
  log(LogLevel::info, "{}: verify: left out ({})", operation, why);
}

int trouble_of(std::string_view operation) {
  const auto id = find_operation(operation);
  return id ? hoist_operations[*id].trouble : 1;
}

// How the original tells that it cannot write, and its exit status then.
int report_write_error(const Takeover& takeover, std::string_view operation, int code) {
  const std::string& name = takeover.argv[0];
  std::string message;
  if (find_operation(operation) == HOIST_SORT) {
    message = fmt::format("{0}: write failed: 'standard output': {1}\n{0}: write error\n", name,
                          std::strerror(code));
  } else if (find_operation(operation) == HOIST_GUNZIP) {
    message = fmt::format("\n{}: stdout: {}\n", base_name(name), std::strerror(code));
  } else {
    message = fmt::format("{}: write error: {}\n", name, std::strerror(code));
  }
  (void)write_full(STDERR_FILENO, message.data(), message.size());
  return trouble_of(operation);
}

int hand_out(const Takeover& takeover, std::string_view operation, const Trial& trial) {
  (void)copy_out(trial.err.get(), STDERR_FILENO);
  if (const Status copied = copy_out(trial.out.get(), STDOUT_FILENO); !copied) {
    return report_write_error(takeover, operation, copied.error().system_errno);
  }
  return end_like(*trial.status);
}

// Whether its result is cut off, or an error came about, for a lack of room that the user's own
// output need not have.
bool lacked_room(const Trial& trial) {
  if (!trial.status) return true;
  return !has_room(trial.out.get()) || !has_room(trial.err.get()) ||
         mentions_lack_of_room(trial.err.get());
}

// Somebody else's doing, which tells nothing about the program.
bool ended_from_outside(const Trial& trial) {
  if (!WIFSIGNALED(*trial.status)) return false;
  constexpr int kOwnFaults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  return std::find(std::begin(kOwnFaults), std::end(kOwnFaults), WTERMSIG(*trial.status)) ==
         std::end(kOwnFaults);
}

void tell_of_difference(const Takeover& takeover, std::string_view operation) {
  std::string words;
  for (const std::string& word : takeover.argv) words += (words.empty() ? "" : " ") + word;
  std::replace(words.begin(), words.end(), '\n', ' ');
  log(LogLevel::error, "{}: result differs from the original's: {}", operation, words);
  switch_off(operation, "differed from the original: " + words.substr(0, 512));
}

// Ends the run whose two trials are at hand.
int compare(const Takeover& takeover, std::string_view operation, const Trial& ours,
            const Trial& theirs, const NamedInputs& named, const StandardInput& input) {
  const bool same = ours.status && ours.status == theirs.status &&
                    same_content(ours.out.get(), theirs.out.get()) &&
                    same_content(ours.err.get(), theirs.err.get());
  if ((!same || *ours.status != 0) && (lacked_room(ours) || lacked_room(theirs))) {
    input.rewind();
    return step_aside(takeover, operation, "verify: left out (no room)");
  }
  if (same) {
    Counters::process().add_passed(operation, "verify: same");
  } else if (ended_from_outside(ours) || ended_from_outside(theirs)) {
    count_left_out(operation, "ended by a signal");
  } else if (named.changed()) {
    count_left_out(operation, "input changed");
  } else {
    Counters::process().add_passed(operation, "verify: different");
    tell_of_difference(takeover, operation);
  }
  return hand_out(takeover, operation, theirs);
}

// Ends the run where there is no original to compare with.
int make_do_with_ours(const Takeover& takeover, std::string_view operation, const Trial& ours,
                      const StandardInput& input, off_t position_after_ours) {
  if (!ours.status || (*ours.status != 0 && lacked_room(ours))) {
    input.rewind();
    return step_aside(takeover, operation, "verify: left out (no room)");
  }
  count_left_out(operation, "original not started");
  input.seek(position_after_ours);
  return hand_out(takeover, operation, ours);
}

int report_lost_input(std::string_view operation) {
  constexpr std::string_view kMessage =
      "hoist: error: cannot keep standard input for verification (TMPDIR): free some room\n";
  (void)write_full(STDERR_FILENO, kMessage.data(), kMessage.size());
  return trouble_of(operation);
}

}  // namespace

void verify_left_out(std::string_view operation, std::string_view why) {
  if (drawn()) count_left_out(operation, why);
}

std::optional<int> verify_run(const Takeover& takeover, std::string_view operation,
                              std::span<const std::string> inputs) {
  if (takeover.original_path.empty() || !drawn()) return {};
  commit_run();  // a crash is a difference to be told of
  const auto left_out = [&](std::string_view why) {
    count_left_out(operation, why);
    return std::nullopt;
  };
  const NamedInputs named(inputs);
  if (!named.readable_twice()) return left_out("input that cannot be read twice");
  Trial ours;
  Trial theirs;
  if (!ours.valid() || !theirs.valid()) return left_out("no room");
  const StandardInput input(std::find(inputs.begin(), inputs.end(), "-") != inputs.end());
  if (input.state() == InputState::lost) return report_lost_input(operation);
  if (input.state() == InputState::once) return left_out("no room for standard input");

  bool both = false;
  off_t position_after_ours = -1;
  {
    Trials trials;
    switch (trials.fork(ours)) {
      case Trials::Outcome::in_child:
        return {};
      case Trials::Outcome::not_started:
        return left_out("fork");
      case Trials::Outcome::ended:
        break;
    }
    position_after_ours = input.position();
    input.rewind();
    both = trials.run_original(takeover, theirs) == Trials::Outcome::ended;
  }
  std::setlocale(LC_ALL, "");  // for the words that error messages are searched for
  return both ? compare(takeover, operation, ours, theirs, named, input)
              : make_do_with_ours(takeover, operation, ours, input, position_after_ours);
}

}  // namespace hoist
