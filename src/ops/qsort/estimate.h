// What an array of numbers would take on the CPU and on the GPU, from the profile
// (`hoist tune --op qsort`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "placement/cost_curve.h"
#include "placement/profile.h"

namespace hoist::qsort {

class Estimate {
 public:
  // For numbers of `size` bytes, 4 or 8. Nothing where the profile has not measured both.
  static std::optional<Estimate> make(const placement::Profile& profile, size_t size);
  // The estimate from this process's profile; null: not measured.
  static const Estimate* of(size_t size);

  // Ahead by more than the choice may cost, and than the measurements leave open
  // (placement/decide.h).
  bool prefers_gpu(uint64_t bytes) const;

 private:
  Estimate(placement::CostCurve cpu, placement::CostCurve gpu, double caution)
      : cpu_(std::move(cpu)), gpu_(std::move(gpu)), caution_(caution) {}

  placement::CostCurve cpu_;
  placement::CostCurve gpu_;
  double caution_;  // placement/certainty.h
};

}  // namespace hoist::qsort
