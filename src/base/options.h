// One table of options: name, environment variable, default, one line. `hoist options` prints it,
// the CLI and the libraries read it. Safe before main and in a preloaded program: no allocation in
// option_text(), no locale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hoist {

enum class OptionId {
  off,
  gpu,
  ops,
  log,
  log_file,
  stats,
  verify,
  profile,
  threads,
  isa,
  socket,
  blas,
  gemm_devices,
  gemm_precision,
  gemm_smallest,
  graph_native
};

struct Option {
  OptionId id;
  const char* name;           // "threads"
  const char* env;            // "HOIST_THREADS"
  const char* default_value;  // ""
  const char* description;    // one line
};

std::span<const Option> options();
// The value in force: the environment's, else the default. Never null.
const char* option_text(OptionId id);
// Sets the environment variable, so that this process and its children see it.
void set_option(OptionId id, const std::string& value);

// getenv(), for Hoist's own settings. Inside a program that the preload library has been loaded
// into also what the program has removed since its start (intercept/kept_environment.h).
const char* environment_value(const char* name);

// HOIST=off (any letter case; also "0", "false", "no").
bool hoist_is_off();

}  // namespace hoist
