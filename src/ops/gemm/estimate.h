// What a call would take on the program's BLAS and on the GPU, from the profile.
//
// `hoist tune` measures square products; their cost depends on one number, the operations. A call
// of another shape has as many operations as some square one, but may move more bytes for them: its
// time on the GPU is taken to be that of the square one times the ratio of bytes, as if it were
// transfer alone. So a GPU is never chosen for an estimate that is too low.
#pragma once

#include <optional>

#include "ops/gemm/call.h"
#include "placement/cost_curve.h"
#include "placement/profile.h"

namespace hoist::gemm {

// "gemm/s", "gemm/d", "gemm/c" or "gemm/z" in the profile.
std::string variant_name(char type);

// The rows of a square matrix whose product takes as much as the call.
double square_extent(const hoist_blas_call& call);
// Bytes of the three matrices of a square product; what the profile's points count.
uint64_t square_bytes(char type, double extent);

class Estimate {
 public:
  // Nothing where the profile has not measured both.
  static std::optional<Estimate> make(const placement::Profile& profile, char type);
  // Of this process's profile; null: not measured.
  static const Estimate* of(char type);

  double original_seconds(const hoist_blas_call& call) const;
  double gpu_seconds(const hoist_blas_call& call) const;
  // Ahead by more than the choice may cost (placement/decide.h).
  bool prefers_gpu(const hoist_blas_call& call) const;

 private:
  Estimate(placement::CostCurve original, placement::CostCurve gpu)
      : original_(std::move(original)), gpu_(std::move(gpu)) {}

  placement::CostCurve original_;
  placement::CostCurve gpu_;
};

}  // namespace hoist::gemm
