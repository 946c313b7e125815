// How certain a measurement is, and what that means for decisions and for whether it is kept.
#pragma once

#include "placement/profile.h"

namespace hoist::placement {

// What takes surely more than so many times as long as the best of its size matters to no decision.
inline constexpr double kContender = 1.5;

// From this uncertainty on, far above the promised 3 %, the machine was busy: near break-evens such
// times rank implementations by chance. 0.5 % are usual on an idle machine.
inline constexpr double kBusy = 0.05;

// The least that a mean may be, with what its relative standard error leaves open.
double least_seconds(double mean, double standard_error);

// The relative standard error that half of the points stay below which may be the best of their
// size; single ones scatter on an idle machine too. 0 without points.
double uncertainty(const MeasuredVariant& variant);

// How many times the usual number of standard errors an implementation must be ahead by. Of a busy
// machine's measurements that is two: what is far ahead is chosen all the same.
double caution(const MeasuredVariant& variant);

}  // namespace hoist::placement
