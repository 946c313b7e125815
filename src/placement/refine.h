// Refining the profile from timings of real runs (record.h), between runs.
//
// A timing says how a real run compares with what the profile predicts for it. Only what several
// runs agree on moves the profile, and only a little at a time: real input differs from the
// measured one, and machines are loaded at times.
//
//   - Timings of another machine or version, of unknown names, and of a moment at which not as many
//     CPUs were free as were measured with, are left out: on a busy machine only what Hoist runs
//     would seem to get slower, since nobody times the originals. So are outliers, below half or
//     above twice the prediction, and runs so short that the start of the process, which a
//     program's timing does not hold, would be a tenth of them.
//   - The timings are given to the measured sizes on both sides. From kEnoughTimings of them on
//     the point's factor moves towards the Winsorised mean of their ratios, by at most kMostStep
//     at once, and stays within kMostFactor of what was measured.
//   - Decisions are then made anew with hysteresis (decide.h), so that only a gain changes them.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "placement/operation.h"
#include "placement/profile.h"
#include "placement/record.h"

namespace hoist::placement {

inline constexpr size_t kEnoughTimings = 4;
inline constexpr double kMostStep = 1.1;    // and its inverse
inline constexpr double kMostFactor = 1.5;  // and its inverse

// Moves the factors; the number of points that moved. `key` is hoist_machine_key().
size_t fold_timings(Profile& profile, std::span<const Timing> timings, uint64_t key);

// Folds the waiting timings into the profile on disk and removes them, where at least `enough`
// wait. True where the profile was written. Several processes may do so at once; a crash between
// loses timings, never the profile. `registry` knows the operations.
Result<bool> refine_profile(const Registry& registry, size_t enough = kTimingsWorthFolding);

}  // namespace hoist::placement
