#include "placement/merge.h"

#include <algorithm>

#include "placement/certainty.h"

namespace hoist::placement {

std::vector<std::string> keep_earlier(Profile& profile, const Profile& before) {
  std::vector<std::string> kept;
  for (MeasuredVariant& variant : profile.variants) {
    const MeasuredVariant* const earlier = before.find(variant.name, variant.residency);
    if (earlier == nullptr || uncertainty(variant) <= kBusy || uncertainty(*earlier) > kBusy) {
      continue;
    }
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
