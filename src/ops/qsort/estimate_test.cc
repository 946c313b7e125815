#include "ops/qsort/estimate.h"

#include <gtest/gtest.h>

namespace hoist::qsort {
namespace {

// Seconds of `fixed + rate * bytes` from 1 MiB to 1 GiB, each of five runs.
placement::MeasuredImplementation measured(const char* name, double fixed, double rate,
                                           double noise) {
  placement::MeasuredImplementation result = {.name = name, .points = {}};
  for (uint64_t bytes = uint64_t{1} << 20; bytes <= uint64_t{1} << 30; bytes *= 2) {
    result.points.push_back({.shape = {.bytes = bytes, .items = 1},
                             .seconds = fixed + rate * static_cast<double>(bytes),
                             .noise = noise,
                             .runs = 5,
                             .factor = 1});
  }
  return result;
}

std::optional<Estimate> estimate(double gpu_rate, double noise) {
  placement::MeasuredVariant variant;
  variant.name = "qsort/int32";
  variant.implementations = {measured("cpu-all", 0, 1e-9, noise),
                             measured("cuda", 1e-3, gpu_rate, noise)};
  placement::Profile profile;
  profile.variants = {variant};
  return Estimate::make(profile, 4);
}

TEST(Estimate, PrefersTheGpuFromItsBreakEvenOn) {
  const auto found = estimate(0.5e-9, 0.01);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->prefers_gpu(0));
  EXPECT_FALSE(found->prefers_gpu(uint64_t{1} << 20));
  EXPECT_FALSE(found->prefers_gpu(1900000));
  EXPECT_TRUE(found->prefers_gpu(2200000));
  EXPECT_TRUE(found->prefers_gpu(uint64_t{1} << 40));
}

TEST(Estimate, TakesNoNoiseForALead) {
  constexpr uint64_t kLarge = uint64_t{1} << 30;
  EXPECT_TRUE(estimate(0.8e-9, 0.02)->prefers_gpu(kLarge));
  // A busy machine has a noise of 9 %: a quarter ahead is less than two standard errors of both.
  EXPECT_FALSE(estimate(0.8e-9, 0.2)->prefers_gpu(kLarge));
  EXPECT_TRUE(estimate(0.1e-9, 0.2)->prefers_gpu(kLarge));
}

TEST(Estimate, IsThereWhereBothWereMeasured) {
  EXPECT_FALSE(Estimate::make({}, 4));
  EXPECT_TRUE(estimate(1, 0));
}

}  // namespace
}  // namespace hoist::qsort
