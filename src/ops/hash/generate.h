// Prints the checksums of files.
#pragma once

#include "ops/hash/file_jobs.h"
#include "ops/hash/options.h"
#include "ops/hash/report.h"

namespace hoist::hash {

// On up to `threads` threads. False when a file could not be read.
bool generate(const Options& options, int threads, Report& report, JobTotals& totals);

}  // namespace hoist::hash
