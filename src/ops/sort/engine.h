// The sort engine: options to a sorted output, in memory or through temporary files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/threads.h"
#include "ops/sort/gpu_use.h"
#include "ops/sort/options.h"

namespace hoist::sort {

// What of a finished run is worth counting.
struct Outcome {
  int status = 0;      // the exit code: 1 for a disorder found by -c, else 0
  uint64_t bytes = 0;  // of input, as far as not reported as progress
  const char* implementation = "";
};

// Why this engine leaves the job to the original; empty if it does not. Reads nothing yet.
std::string reason_to_step_aside(const Options& options);

// Does the job; `program` begins its messages. Errors are worded as GNU sort's and mean exit code
// 2, but for `unsupported`, which only a merge gives, before anything was read: then step aside.
Result<Outcome> run(const Options& options, std::string_view program, GpuUse gpu = GpuUse::none);

}  // namespace hoist::sort
