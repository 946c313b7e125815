#pragma once

#include <string>

namespace hoist::cli {

struct TuneOptions {
  bool quick = false;
  bool refine = false;
  bool json = false;
  bool force = false;     // replaces what is more certain, too
  double seconds = 0;     // to take; 0: what the effort stands for
  std::string operation;  // OPERATION or OPERATION/VARIANT; empty: all
};

// Gives the exit status.
int tune_command(const TuneOptions& options);

}  // namespace hoist::cli
