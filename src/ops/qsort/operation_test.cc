// That calls ask placement, and by which measurements a GPU gets an array.
#include "ops/qsort/operation.h"

#include <gtest/gtest.h>

#include "placement/decide.h"
#include "placement/decision_table.h"

namespace hoist::qsort {
namespace {

constexpr uint64_t kLarge = uint64_t{1} << 30;

// Seconds of `fixed + rate * bytes` from 1 MiB to 1 GiB, each of five runs.
placement::MeasuredImplementation measured(const char* name, double fixed, double rate,
                                           double noise) {
  placement::MeasuredImplementation result = {.name = name, .points = {}};
  for (uint64_t bytes = uint64_t{1} << 20; bytes <= kLarge; bytes *= 2) {
    result.points.push_back({.shape = {.bytes = bytes, .items = 1},
                             .seconds = fixed + rate * static_cast<double>(bytes),
                             .noise = noise,
                             .runs = 5,
                             .factor = 1});
  }
  return result;
}

// What a call with `cpus` CPUs does on a machine of four whose GPU has these costs.
bool is_on_gpu(uint64_t bytes, double gpu_rate, double noise, int cpus = 4) {
  placement::MeasuredVariant variant;
  variant.name = "qsort/int32";
  variant.implementations = {measured("cpu-all", 0, 1e-9, noise),
                             measured("cuda", 1e-3, gpu_rate, noise)};
  placement::Profile profile;
  profile.machine.cpus = 4;
  profile.variants = {variant};
  placement::Registry registry;
  EXPECT_TRUE(registry.add(operation()));
  placement::decide(profile, nullptr, registry);
  const placement::DecisionTable table(variant_of(4), placement::Residency::host, &profile, cpus);
  return table.find(bytes).implementation == kOnGpu;
}

TEST(Operation, PrefersTheGpuFromItsBreakEvenOn) {
  for (const uint64_t small : {uint64_t{0}, uint64_t{1} << 20, uint64_t{1900000}}) {
    EXPECT_FALSE(is_on_gpu(small, 0.5e-9, 0.01)) << small;
  }
  for (const uint64_t large : {uint64_t{2200000}, kLarge, uint64_t{1} << 40}) {
    EXPECT_TRUE(is_on_gpu(large, 0.5e-9, 0.01)) << large;
  }
}

TEST(Operation, TakesNoNoiseForALead) {
  EXPECT_TRUE(is_on_gpu(kLarge, 0.8e-9, 0.02));
  // On a busy machine a quarter ahead is less than the standard errors of both.
  EXPECT_FALSE(is_on_gpu(kLarge, 0.8e-9, 0.4));
  EXPECT_TRUE(is_on_gpu(kLarge, 0.1e-9, 0.4));
}

TEST(Operation, OneCpuIsComparedToo) {
  EXPECT_FALSE(is_on_gpu(kLarge, 5e-9, 0.01, 1));  // four CPUs' nanosecond is four of one
  EXPECT_TRUE(is_on_gpu(kLarge, 2e-9, 0.01, 1));
  EXPECT_FALSE(is_on_gpu(kLarge, 2e-9, 0.01, 4));
}

TEST(Operation, WithoutAMeasurementTheCpuSorts) {
  const placement::DecisionTable table(variant_of(8), placement::Residency::host, nullptr, 4);
  EXPECT_NE(table.find(kLarge).implementation, kOnGpu);
  EXPECT_EQ(operation().implementations[kOnGpu].name, "cuda");
  EXPECT_EQ(variant_of(4).name(), "qsort/int32");
  EXPECT_EQ(variant_of(8).name(), "qsort/int64");
}

}  // namespace
}  // namespace hoist::qsort
