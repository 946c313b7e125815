// What `hoist px run` prints.
#pragma once

#include <string>

#include "cli/px/commands.h"
#include "cli/px/run_place.h"
#include "cli/px/run_values.h"
#include "px/host/run_host.h"

namespace hoist::cli {

struct RunTimes {
  std::string target;  // "cuda:0", "cpu", "interpreter"
  double compile_milliseconds = 0;
};

// The first elements of what was written and goes into no file; with --time the times.
void print_run(const PxRunOptions& options, const px::HostProgram& host, const RunValues& made,
               const std::vector<ArrayFileName>& outputs, const px::HostReport& report,
               const RunTimes& times, const RunPlace& place);

}  // namespace hoist::cli
