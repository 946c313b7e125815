// Prints the checksums of files.
#pragma once

#include "ops/hash/file_jobs.h"
#include "ops/hash/options.h"
#include "ops/hash/report.h"

namespace hoist::hash {

// False when a file could not be read.
bool generate(const Options& options, Report& report, JobTotals& totals);

}  // namespace hoist::hash
