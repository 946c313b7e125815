#include "placement/merge.h"

#include <algorithm>

#include "placement/certainty.h"

namespace hoist::placement {
namespace {

// Whether it knows of all that the other one does, to about the same size.
bool covers(const MeasuredVariant& earlier, const MeasuredVariant& now) {
  constexpr uint64_t kAboutTheSame = 4;
  return std::all_of(
      now.implementations.begin(), now.implementations.end(), [&](const auto& implementation) {
        const MeasuredImplementation* const known = earlier.find(implementation.name);
        if (known == nullptr || known->points.empty()) return false;
        const uint64_t largest = known->points.back().shape.bytes;
        return largest >= implementation.points.back().shape.bytes / kAboutTheSame;
      });
}

}  // namespace

std::vector<std::string> keep_earlier(Profile& profile, const Profile& before) {
  std::vector<std::string> kept;
  for (MeasuredVariant& variant : profile.variants) {
    const MeasuredVariant* const earlier = before.find(variant.name, variant.residency);
    const double doubt = uncertainty(variant);
    if (earlier == nullptr || doubt <= kBusy || doubt <= uncertainty(*earlier)) continue;
    if (!covers(*earlier, variant)) continue;
    variant = *earlier;
    kept.push_back(variant.name);
  }
  replace_earlier(profile, before);
  return kept;
}

void replace_earlier(Profile& profile, const Profile& before) {
  for (const MeasuredVariant& earlier : before.variants) {
    if (profile.find(earlier.name, earlier.residency) == nullptr) {
      profile.variants.push_back(earlier);
    }
  }
}

}  // namespace hoist::placement
