// Statistics of repeated timings. What disturbs a run only lengthens it, and on a machine that is
// not idle many runs are disturbed, so that the upper half of the samples tells about the others'
// programs rather than about the measured one.
#pragma once

#include <span>

namespace hoist::placement {

// Mean of the samples after the lowest tenth has been replaced by the nearest of the rest, and what
// is above the median by the median (Winsorised; Tukey 1962). The minimum would describe a lucky
// run, without costs that real runs meet in caches and frequency; the plain mean follows a single
// interrupted run; the median ignores how the undisturbed ones lie. Highway's auto_tune.h argues
// the same way. 0 for no samples.
double winsorised_mean(std::span<const double> samples);

// How far samples scatter relative to their median: 1.4826 times the median distance of those at
// or below it, which for a normal distribution is the standard deviation. 0 for fewer than two
// samples.
double relative_noise(std::span<const double> samples);

// What such noise leaves uncertain of a mean of `runs` samples: its standard error.
double standard_error(double noise, int runs);

}  // namespace hoist::placement
