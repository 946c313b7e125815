#include "placement/merge.h"

#include <gtest/gtest.h>

namespace hoist::placement {
namespace {

MeasuredVariant variant_of(const std::string& name, double seconds, double noise) {
  MeasuredVariant variant;
  variant.name = name;
  variant.implementations = {{"original", {{{1 << 20, 1}, seconds, noise, 4, 1}}}};
  return variant;
}

Profile profile_of(std::vector<MeasuredVariant> variants) {
  Profile profile;
  profile.variants = std::move(variants);
  return profile;
}

double seconds_of(const Profile& profile, const std::string& name) {
  return profile.find(name, Residency::host)->implementations[0].points[0].seconds;
}

TEST(Merge, WhatWasNotMeasuredNowStays) {
  Profile profile = profile_of({variant_of("sort/C", 1, 0)});
  const Profile before = profile_of({variant_of("sort/C", 2, 0), variant_of("gemm/d", 3, 0.5)});
  EXPECT_TRUE(keep_earlier(profile, before).empty());
  ASSERT_EQ(profile.variants.size(), 2u);
  EXPECT_EQ(seconds_of(profile, "sort/C"), 1);
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 3);
}

TEST(Merge, ABusyMachineDoesNotReplaceWhatAnIdleOneGave) {
  constexpr double kIdle = 0.01;
  constexpr double kBusyNoise = 0.2;  // 10 %
  constexpr double kBusier = 0.4;
  const auto measured = [&](double noise) { return profile_of({variant_of("gemm/d", 1, noise)}); };
  const auto before = [&](double noise) { return profile_of({variant_of("gemm/d", 2, noise)}); };

  Profile profile = measured(kBusyNoise);
  EXPECT_EQ(keep_earlier(profile, before(kIdle)), std::vector<std::string>{"gemm/d"});
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 2);

  profile = measured(kBusyNoise);
  EXPECT_TRUE(keep_earlier(profile, before(kBusyNoise)).empty());
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 1);

  profile = measured(kBusier);
  EXPECT_EQ(keep_earlier(profile, before(kBusyNoise)), std::vector<std::string>{"gemm/d"});
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 2);

  profile = measured(kBusyNoise);
  EXPECT_TRUE(keep_earlier(profile, before(kBusier)).empty());
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 1);

  profile = measured(kIdle);
  EXPECT_TRUE(keep_earlier(profile, before(kBusyNoise)).empty());
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 1);

  profile = measured(kBusyNoise);
  replace_earlier(profile, before(kIdle));
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 1);
}

TEST(Merge, WhatTheEarlierOneDoesNotKnowOfIsNotLost) {
  const Profile before = profile_of({variant_of("gemm/d", 2, 0.01)});
  // A GPU was not there then.
  Profile profile = profile_of({variant_of("gemm/d", 1, 0.2)});
  profile.variants[0].implementations.push_back({"cuda", {{{1 << 20, 1}, 0.01, 0.2, 4, 1}}});
  EXPECT_TRUE(keep_earlier(profile, before).empty());
  EXPECT_EQ(seconds_of(profile, "gemm/d"), 1);
  // Or only small sizes were measured.
  for (const auto& [larger, kept] : {std::pair(4, true), std::pair(8, false)}) {
    profile = profile_of({variant_of("gemm/d", 1, 0.2)});
    const uint64_t bytes = static_cast<uint64_t>(larger) << 20;
    profile.variants[0].implementations[0].points.push_back({{bytes, 1}, 9, 0.2, 4, 1});
    EXPECT_EQ(!keep_earlier(profile, before).empty(), kept) << larger;
  }
}

}  // namespace
}  // namespace hoist::placement
