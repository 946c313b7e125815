// Reads checksum files and says which of the files that they list match.
#pragma once

#include "ops/hash/file_jobs.h"
#include "ops/hash/options.h"
#include "ops/hash/report.h"

namespace hoist::hash {

// On up to `threads` threads, and a GPU unless it is null (run_in_order()). False when something
// did not verify, as the options define it.
bool check(const Options& options, int threads, GpuHasher* gpu, Report& report, JobTotals& totals);

}  // namespace hoist::hash
