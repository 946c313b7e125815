// Measuring the implementations of a variant, as `hoist tune` does.
//
// Every run is a whole one, from the call to the answer: parts timed alone rank implementations
// wrongly (SCILIB-Accel's micro-tests called one way three times faster that made real programs
// twice slower). Implementations take turns, so that a change of the machine's load meets all of
// them; where the threads of one linger (Implementation::lingers) a turn is several runs, and the
// next one's waits until they rest. What scatters, and may be the best, is measured again, up to a
// bound, still in turns, and the scatter that is left is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::placement {

// Seconds on the steady clock.
double steady_seconds();

struct MeasurePlan {
  std::vector<uint64_t> sizes;  // bytes, ascending
  double seconds = 3;           // that the variant may take; sizes that would take longer are left
  int rounds = 5;               // runs of each implementation at each size, after one to warm up
  int most_rounds = 40;         // of what may be the best, while its mean is uncertain
  double uncertainty = 0.008;   // relative standard error from which a size is measured again
  int cpus = 1;                 // with one, implementations for all CPUs are left out
  std::string directory;        // for files, exists
  // Asked between runs; true ends the measurement with `cancelled`.
  std::function<bool()> cancelled = [] { return false; };
  std::function<void(uint64_t bytes)> at_size = [](uint64_t) {};
  // The time that runs are measured by, in seconds; tests have a clock of their own.
  std::function<double()> now = steady_seconds;
};

struct Measurement {
  MeasuredVariant variant;  // without rows
  // Implementations that failed, and why: unmeasured, so they will not be used. One that only finds
  // no room (`exhausted`) at some size keeps what was measured of smaller ones.
  std::vector<std::string> left_out;
};

// Sizes from `least` to `most`, each `step` times the one before.
std::vector<uint64_t> log_spaced(uint64_t least, uint64_t most, double step);

// The error of the plain implementation, or of preparing the first input, is the call's. After the
// sizes of the plan, those near which the choice changes are measured too.
Result<Measurement> measure(const Operation& operation, size_t variant, const MeasurePlan& plan);

}  // namespace hoist::placement
