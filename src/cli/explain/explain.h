#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::cli {

struct ExplainOptions {
  std::string operation;           // OPERATION or OPERATION/VARIANT
  std::vector<std::string> sizes;  // "64K", "1M", "2G"; empty: a few
  std::string plot;                // file for the SVG; empty: none
  bool force = false;              // replace it where it exists
  int cpus = 0;                    // assumed free; 0: as many as are now
  bool measured = false;           // what was measured, instead of what is predicted
  bool json = false;
};

// Gives the exit status.
int explain_command(const ExplainOptions& options);

// "64K" is 65536; B, K, M, G, T, also with "iB" behind. `invalid_argument` for anything else, and
// where the size does not fit into 64 bits.
Result<uint64_t> parse_size(const std::string& text);

}  // namespace hoist::cli
