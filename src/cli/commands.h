// The commands of `hoist`, each in its own file. They take what the command line said
// (command_line.cc), do the work and give the exit status.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hoist::cli {

// hoist run [OPTIONS] -- PROGRAM ARGS…
struct RunOptions {
  std::string operations;  // HOIST_OPS of the program; empty: as it is
  bool stats = false;
  std::optional<std::string> stats_file;  // none: a summary on standard error
  std::optional<double> verify;
  bool explain = false;
  std::vector<std::string> program;
};
int run_command(RunOptions options);

struct TopOptions {
  bool once = false;
  bool json = false;
  double interval = 1.0;  // seconds
};
int top_command(const TopOptions& options);

struct LearnOptions {
  std::string path;
  bool check = false;
  bool json = false;
};
int learn_command(const LearnOptions& options);

int options_command(bool json);
int doctor_command(bool json);

// hoist sort|md5sum|…|gunzip|zcat ARGS…: the engine as a command, its arguments untouched.
int engine_command(const std::string& name, const std::vector<std::string>& arguments);
bool is_engine_command(const std::string& name);
// Names and what they stand for.
std::vector<std::pair<std::string, std::string>> engine_commands();

// hoist container|bench|… ARGS…: libexec/hoist/hoist-NAME, a program of its own because its
// libraries would slow the start of `hoist run`. Returns only where it cannot be started.
int tool_command(const std::string& name, const std::vector<std::string>& arguments);
bool is_tool_command(const std::string& name);
std::vector<std::pair<std::string, std::string>> tool_commands();

}  // namespace hoist::cli
