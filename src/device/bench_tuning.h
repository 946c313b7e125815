// Other tunings of transfers for benchmarks, as HOIST_BENCH_TRANSFER names them:
// "threads=7 piece=256 demoted=0". Sizes are in KiB, `look` in microseconds; what is not named is
// as it would be.
#pragma once

#include <string>

#include "base/result.h"
#include "device/transfer.h"

namespace hoist::device {

// `invalid_argument`: says which names there are.
Result<TransferTuning> parse_tuning(const std::string& text);

// That of HOIST_BENCH_TRANSFER.
Result<TransferTuning> bench_tuning();

}  // namespace hoist::device
