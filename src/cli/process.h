// Running a program to its end and keeping what it said.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::cli {

struct Command {
  std::string file;                    // what is executed
  std::vector<std::string> words;      // argv
  std::vector<std::string> variables;  // NAME=VALUE, added to the environment
  std::string directory = ".";
  std::string standard_input = "/dev/null";  // relative to `directory`
};

struct Outcome {
  int status = 0;  // as waitpid() gives it
  std::string output;
  std::string errors;
};

// Runs the command without preloaded libraries and without variables that change what a known
// program does. A run of more than two minutes is killed; output beyond 64 MiB is an error.
Result<Outcome> run_captured(const Command& command);

}  // namespace hoist::cli
