// Seconds as a function of bytes, from measured points.
//
// Run time is a fixed start plus something near a power of the size. So the fixed part is taken
// from where the smallest sizes point to, and what is above it is interpolated on log-log axes:
// exact for a + b·x^c, with points a factor of four or more apart. (On the plain
// times the chord across the knee between the two regimes would be 6 % too high.) Points are first
// made monotone, since more input never takes less time and a dip is noise. Below the first point
// the curve goes on linearly to the fixed part; beyond the last with the last points' throughput,
// or by a given power of the bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/profile.h"

namespace hoist::placement {

class CostCurve {
 public:
  // At least one point, ascending in bytes, seconds above 0 (as parse_profile() ensures). `growth`
  // above 1: the power of the bytes by which the time grows beyond the last point.
  explicit CostCurve(const std::vector<Point>& points, double growth = 1);

  double seconds(uint64_t bytes) const;
  // Relative standard error of that, from the measured points beside it.
  double uncertainty(uint64_t bytes) const;
  double fixed() const { return fixed_; }  // seconds at no bytes
  // The least and the largest size measured.
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }

 private:
  struct Knot {
    double bytes;
    double seconds;
    double uncertainty;
  };

  double find_fixed() const;
  double above_fixed(const Knot& knot) const;

  uint64_t first_;
  uint64_t last_;
  std::vector<Knot> knots_;
  double fixed_ = 0;
  double growth_;
  double slope_ = 0;  // seconds per byte beyond the last knot, where it is 1
};

// Seconds with `cpus` CPUs free of what takes `one` on one CPU and `all` on `measured` CPUs: the
// part that `measured` CPUs saved is parallel, the rest is not (Amdahl, AFIPS 1967).
double with_cpus(double one, double all, int measured, double cpus);

}  // namespace hoist::placement
