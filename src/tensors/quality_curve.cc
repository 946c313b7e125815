#include "tensors/quality_curve.h"

#include <algorithm>

namespace hoist::tensors {

double QualityCurve::quality(std::span<const size_t> parts) const {
  if (!any_subset()) {
    // How many parts there are from the first one on without a gap.
    std::vector<bool> there(prefixes.size());
    for (const size_t part : parts) {
      if (part < there.size()) there[part] = true;
    }
    const auto gap = std::find(there.begin(), there.end(), false);
    return gap == there.begin() ? 0
                                : prefixes[static_cast<size_t>(gap - there.begin()) - 1].quality;
  }
  double quality = 0;
  bool any = false;
  for (const size_t part : parts) {
    if (part >= energies.size()) continue;
    quality += energies[part];
    any = true;
  }
  return any ? quality + common : 0;
}

size_t QualityCurve::parts_for(double target) const {
  const auto enough =
      std::find_if(prefixes.begin(), prefixes.end(),
                   [&](const QualityPoint& point) { return point.quality >= target; });
  return enough == prefixes.end() ? prefixes.size()
                                  : static_cast<size_t>(enough - prefixes.begin()) + 1;
}

}  // namespace hoist::tensors
