// Where a launch on arrays of host memory is done sooner: on the CPU's cores, or on a GPU with
// copies there and back.
//
// A kernel is its author's own, so nobody has measured it. What was measured, by `hoist tune --op
// px` (operation.h), are two kernels on each: one that streams through memory and one that
// computes. With them the work that is counted in a launch (work.h) becomes seconds:
//
//   CPU   the longer one of what its bytes take and what its operations take
//   GPU   the start of a GPU in a new process, the copies, and what its operations take there
//
// That is rough: a GPU must be ahead by kAhead. Without measurements of this machine the CPU runs
// everything: unmeasured means unused.
#pragma once

#include <string>

#include "placement/cost_curve.h"
#include "placement/profile.h"
#include "px/place/work.h"

namespace hoist::px {

inline constexpr double kAhead = 1.5;
// Times that an operation outside of vectors takes longer on a CPU: the floats of a 512-bit vector.
// An H100's host took 20 times as long.
inline constexpr double kLanes = 16;

struct PlaceEstimate {
  bool on_gpu = false;
  double cpu_seconds = 0;
  double gpu_seconds = 0;        // without the start
  double gpu_start_seconds = 0;  // what a new process pays before its first launch
};

class Rates {
 public:
  // `not_found`, and how to get them: the profile has no measurements of px with a GPU. `cpus` are
  // those that this process may use.
  static Result<Rates> make(const placement::Profile& profile, int cpus);
  // From this process's profile, read once. `not_found` likewise, with why there is no profile.
  static const Result<Rates>& process();

  // A launch on arrays of host memory.
  PlaceEstimate estimate(const Work& work) const {
    return compare(cpu_seconds(work), copy_seconds(work.bytes()) + gpu_seconds(work));
  }

  // For several launches on the same arrays: on the CPU; bytes to a GPU and back; where the arrays
  // lie on a GPU.
  double cpu_seconds(const Work& work) const;
  double copy_seconds(uint64_t bytes) const;
  double gpu_seconds(const Work& work) const;
  PlaceEstimate compare(double cpu_seconds, double gpu_seconds) const;

 private:
  Rates(placement::CostCurve cpu_stream, placement::CostCurve cpu_compute,
        placement::CostCurve gpu_stream, placement::CostCurve gpu_compute, double gpu_start,
        double scale)
      : cpu_stream_(std::move(cpu_stream)),
        cpu_compute_(std::move(cpu_compute)),
        gpu_stream_(std::move(gpu_stream)),
        gpu_compute_(std::move(gpu_compute)),
        gpu_start_(gpu_start),
        cpu_scale_(scale) {}

  placement::CostCurve cpu_stream_;
  placement::CostCurve cpu_compute_;
  placement::CostCurve gpu_stream_;
  placement::CostCurve gpu_compute_;
  double gpu_start_;
  double cpu_scale_;  // times what was measured, for want of CPUs
};

// "the CPU: 12 ms there, 310 ms on a GPU (280 ms of them its start), estimated from 2.1e+09
// operations and 805 MB"
std::string describe(const PlaceEstimate& estimate, const Work& work);

}  // namespace hoist::px
