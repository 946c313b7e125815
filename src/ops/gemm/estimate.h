// What a call would take on the program's BLAS and on the GPU, from the profile.
//
// `hoist tune` measures square products; their cost depends on one number, the operations. A call
// of another shape has as many operations as some square one, but may move more bytes for them: its
// time on the GPU is taken to be that of the square one times the ratio of bytes, as if it were
// transfer alone. Routines other than gemm are taken to do their operations at gemm's rate.
//
// Where this process has fewer CPUs than were measured with (affinity, quota), the BLAS is taken to
// need as much longer, and the GPU's transfers, which eight threads do, likewise.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ops/gemm/call.h"
#include "placement/cost_curve.h"
#include "placement/profile.h"

namespace hoist::gemm {

// "gemm/s", "gemm/d", "gemm/c" or "gemm/z" in the profile.
std::string variant_name(char type);

// "cuda", or "cuda-2" for two GPUs and so on: implementations in the profile.
std::string implementation_name(int devices);

// Beyond what was measured (the slower ones are not measured to the end) products take as much
// longer as they have operations: that power of their bytes.
inline constexpr double kGrowth = 1.5;

// Standard errors by which so many GPUs must be ahead of fewer: another one is not taken for noise.
double lead_of(int devices);

// The rows of a square matrix whose product takes as much as the call.
double square_extent(const hoist_blas_call& call);
// Bytes of the three matrices of a square product; what the profile's points count.
uint64_t square_bytes(char type, double extent);

class Estimate {
 public:
  // Makes the estimate of a process with `cpus` CPUs. Nothing where the profile has not measured
  // both.
  static std::optional<Estimate> make(const placement::Profile& profile, char type, int cpus);
  // The estimate from this process's profile; null: not measured.
  static const Estimate* of(char type);

  double original_seconds(const hoist_blas_call& call) const;
  // Infinite for a number of devices that was not measured.
  double gpu_seconds(const hoist_blas_call& call, int devices = 1) const;
  // What the call wins on the best number of GPUs up to `devices`; negative: the CPU is ahead.
  double won_seconds(const hoist_blas_call& call, int devices) const;
  // How many GPUs to use, of up to `most`: as many as are ahead of the original, and of fewer GPUs,
  // by more than the choice may cost (placement/decide.h) and by more than the measurements leave
  // open; 0: none.
  int devices(const hoist_blas_call& call, int most) const;

 private:
  Estimate(placement::CostCurve original, std::map<int, placement::CostCurve> gpus, double caution,
           double original_scale, double gpu_scale)
      : original_(std::move(original)),
        gpus_(std::move(gpus)),
        caution_(caution),
        original_scale_(original_scale),
        gpu_scale_(gpu_scale) {}

  placement::CostCurve original_;
  std::map<int, placement::CostCurve> gpus_;  // by the number of devices; one is there
  double caution_;                            // placement/certainty.h
  double original_scale_;                     // times what was measured, for want of CPUs
  double gpu_scale_;
};

}  // namespace hoist::gemm
