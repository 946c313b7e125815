// Prints the checksums of files.
#pragma once

#include "ops/hash/file_jobs.h"
#include "ops/hash/options.h"
#include "ops/hash/report.h"

namespace hoist::hash {

// On up to `threads` threads, and a GPU unless it is null (run_in_order()). False when a file could
// not be read.
bool generate(const Options& options, int threads, GpuHasher* gpu, Report& report,
              JobTotals& totals);

}  // namespace hoist::hash
