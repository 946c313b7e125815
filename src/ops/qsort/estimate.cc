#include "ops/qsort/estimate.h"

#include <array>
#include <utility>

#include "placement/certainty.h"
#include "placement/decide.h"
#include "placement/profile_file.h"

namespace hoist::qsort {

std::optional<Estimate> Estimate::make(const placement::Profile& profile, size_t size) {
  const auto* const variant =
      profile.find(size == 4 ? "qsort/int32" : "qsort/int64", placement::Residency::host);
  if (variant == nullptr) return std::nullopt;
  const auto* const cpu = variant->find("cpu-all");
  const auto* const gpu = variant->find("cuda");
  if (cpu == nullptr || gpu == nullptr) return std::nullopt;
  if (cpu->points.empty() || gpu->points.empty()) return std::nullopt;
  return Estimate(placement::CostCurve(cpu->points), placement::CostCurve(gpu->points),
                  placement::caution(*variant));
}

const Estimate* Estimate::of(size_t size) {
  static const auto* const estimates = [] {
    auto* const made = new std::array<std::optional<Estimate>, 2>;  // for static destructors
    if (const placement::Profile* const profile = placement::process_profile().profile()) {
      *made = {make(*profile, 4), make(*profile, 8)};
    }
    return made;
  }();
  const std::optional<Estimate>& estimate = (*estimates)[size == 4 ? 0 : 1];
  return estimate ? &*estimate : nullptr;
}

bool Estimate::prefers_gpu(uint64_t bytes) const {
  // Smaller than what was measured stays with the CPU.
  if (bytes < gpu_.first()) return false;
  return placement::is_ahead({gpu_.seconds(bytes), gpu_.uncertainty(bytes)},
                             {cpu_.seconds(bytes), cpu_.uncertainty(bytes)}, placement::kStay,
                             caution_);
}

}  // namespace hoist::qsort
