// hoistd's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace hoist::daemon {

struct Options {
  std::string device = "auto";
  std::string socket;                         // empty: the default path
  std::string group;                          // may connect too; empty: none
  uint64_t pool_limit = uint64_t{256} << 20;  // of one client
  uint64_t memory_limit = 0;                  // of one client; 0: half of the device's
  uint32_t client_limit = 512;
  uint16_t metrics_port = 0;                 // 0: none
  std::optional<std::chrono::seconds> idle;  // ends when it had no client for so long
  bool status = false;
  bool json = false;
};

// What to do, or the exit status where --help, --version or a mistake (2) left nothing to do.
struct Parsed {
  Options options;
  std::optional<int> exit_status;
};
Parsed parse_options(int argc, char** argv);

}  // namespace hoist::daemon
