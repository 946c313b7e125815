// What an engine that replaced a program needs to know, and its way back.
//
// The preload library execs libexec/hoist/hoist-NAME with the program's own argv and puts
// PROGRAM:PACKAGE:VERSION:ORIGINAL_PATH into HOIST_TAKEOVER, and sets HOIST_RECOGNISED; `hoist NAME
// …` starts the same engine with the original found in PATH. An engine that has not read standard
// input and has not written a byte may call step_aside() at any time: the original then runs as if
// Hoist were absent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hoist {

struct Takeover {
  std::string program;        // "sort", "sha256sum", "gzip", …
  std::string package;        // "coreutils", "gzip"; empty where unknown
  std::string version;        // "9.1"; empty where unknown
  std::string original_path;  // absolute; empty where the original is not installed
  bool recognised = false;    // the program was started, not the engine by its name
  std::vector<std::string> argv;
};

// Reads and removes the environment variables above, names the process after the program, and
// finds the original in PATH when the engine was started by hand. Call once, first in main.
Takeover begin_takeover(int argc, char** argv, std::string_view default_program);

// Execs the original with its argv and without us. Returns only where there is none, or it cannot
// be started.
void exec_original(const Takeover& takeover);

// Records the reason under `operation`, then execs the original with its argv. Returns only when
// there is no original: prints "hoist: error: …" and gives exit code 3.
int step_aside(const Takeover& takeover, std::string_view operation, std::string_view reason);

// Records the take-over in the counters. Call when the engine is sure to finish the job itself.
void confirm_takeover(const Takeover& takeover, std::string_view reason);

// Where PATH finds `program` as the shell would, or `program` itself where it names a path; empty
// where there is no such executable file.
std::string find_program(const std::string& program);

// The program of that name in PATH to step aside for: not this program itself, and no script of
// that name, which may be what started us and would start us again without end; only what gzip
// installs as scripts is one by nature. Empty where there is none.
std::string find_original(const std::string& program);

// "sort" for argv[0] "/usr/bin/sort": the name that the program's messages begin with is argv[0]
// itself for coreutils 9, so keep that; this is the base name.
std::string_view base_name(std::string_view path);

}  // namespace hoist
