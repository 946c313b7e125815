#include "placement/refine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/file.h"
#include "base/threads.h"
#include "placement/cost_curve.h"
#include "placement/decide.h"
#include "placement/placement_testing.h"
#include "placement/profile_file.h"
#include "takeover/decisions.h"

namespace hoist::placement {
namespace {

constexpr uint64_t kKey = 77;

double original_cost(double bytes) { return 1e-3 + 2e-9 * bytes; }
double engine_cost(double bytes) { return 2e-3 + 1e-9 * bytes; }

Profile sample_profile() {
  Profile profile;
  profile.machine = this_machine();
  profile.measured = "2026-01-02T03:04:05Z";
  MeasuredVariant variant;
  variant.name = "sort/C";
  variant.implementations = {{"original", points_of(original_cost)},
                             {"cpu-1", points_of(engine_cost)}};
  profile.variants = {variant};
  return profile;
}

// A run of the engine that took `ratio` of what is predicted; less its start, which it cannot see.
Timing timing_of(double ratio, uint64_t bytes = 64 << 20) {
  const double seconds = ratio * engine_cost(static_cast<double>(bytes)) - 2e-3;
  return {"sort/C", "cpu-1", {bytes, 1}, seconds, this_machine().cpus, kKey, 1};
}

double factor_of(const Profile& profile) {
  return profile.variants[0].implementations[1].points.back().factor;
}

double folded(const std::vector<Timing>& timings) {
  Profile profile = sample_profile();
  fold_timings(profile, timings, kKey);
  return factor_of(profile);
}

TEST(Refine, SeveralRunsThatAgreeMoveAPointALittle) {
  EXPECT_NEAR(folded(std::vector<Timing>(8, timing_of(1.05))), 1.05, 0.002);
  EXPECT_NEAR(folded(std::vector<Timing>(8, timing_of(0.96))), 0.96, 0.002);
  EXPECT_DOUBLE_EQ(folded(std::vector<Timing>(8, timing_of(1.6))), kMostStep);
  EXPECT_DOUBLE_EQ(folded(std::vector<Timing>(kEnoughTimings - 1, timing_of(1.05))), 1);
  Profile profile = sample_profile();
  EXPECT_EQ(fold_timings(profile, std::vector<Timing>(8, timing_of(1.05)), kKey), 1u);
  // Again and again: never far from what was measured.
  for (int i = 0; i < 30; ++i) {
    Timing slow = timing_of(1);
    slow.seconds = 1.9 * engine_cost(64 << 20) * factor_of(profile) - 2e-3;
    fold_timings(profile, std::vector<Timing>(8, slow), kKey);
  }
  EXPECT_LE(factor_of(profile), kMostFactor);
  EXPECT_GT(factor_of(profile), 1.2);
}

// Between two points both move, and no further than the runs say, however often.
TEST(Refine, ConvergesToTheTimings) {
  constexpr uint64_t kBytes = 32 << 20;
  Profile profile = sample_profile();
  for (int i = 0; i < 20; ++i) {
    fold_timings(profile, std::vector<Timing>(8, timing_of(1.08, kBytes)), kKey);
  }
  const std::vector<Point>& points = profile.variants[0].implementations[1].points;
  EXPECT_NEAR(CostCurve(points).seconds(kBytes) / engine_cost(kBytes), 1.08, 0.005);
  EXPECT_NEAR(points[points.size() - 1].factor, 1.08, 0.01);
  EXPECT_NEAR(points[points.size() - 2].factor, 1.08, 0.01);
  EXPECT_EQ(points[points.size() - 3].factor, 1);
}

TEST(Refine, OutliersAndWhatTellsNothingAreLeftOut) {
  const auto none = [](const Timing& timing) { return folded(std::vector<Timing>(8, timing)); };
  EXPECT_DOUBLE_EQ(none(timing_of(2.5)), 1);
  EXPECT_DOUBLE_EQ(none(timing_of(0.4)), 1);
  EXPECT_DOUBLE_EQ(none(timing_of(1.3, 64 << 10)), 1);           // mostly the start of the process
  EXPECT_DOUBLE_EQ(none(timing_of(1.3, uint64_t{1} << 40)), 1);  // far beyond what was measured
  Timing timing = timing_of(1.3);
  timing.key = kKey + 1;
  EXPECT_DOUBLE_EQ(none(timing), 1);
  timing = timing_of(1.3);
  ++timing.cpus;
  EXPECT_DOUBLE_EQ(none(timing), 1);
  timing = timing_of(1.3);
  timing.variant = "sort/other";
  EXPECT_DOUBLE_EQ(none(timing), 1);
  timing = timing_of(1.3);
  timing.implementation = "cuda";
  EXPECT_DOUBLE_EQ(none(timing), 1);
  // One loaded moment among others.
  std::vector<Timing> timings(9, timing_of(1.02));
  timings[4] = timing_of(1.9);
  EXPECT_NEAR(folded(timings), 1.02, 0.002);
}

TEST(Record, AnyBytesAreReadSoundly) {
  const Timing timing = timing_of(1);
  const std::string record = encode_timing(timing);
  ASSERT_EQ(record.size(), kTimingSize);
  const std::vector<Timing> read = decode_timings(record + record + "rest");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].variant, "sort/C");
  EXPECT_EQ(read[0].implementation, "cpu-1");
  EXPECT_EQ(read[0].shape.bytes, timing.shape.bytes);
  EXPECT_EQ(read[0].seconds, timing.seconds);
  for (size_t at = 0; at < record.size(); ++at) {
    std::string damaged = record;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_TRUE(decode_timings(damaged).empty()) << at;
  }
  Timing bad = timing;
  bad.seconds = -1;
  EXPECT_TRUE(decode_timings(encode_timing(bad)).empty());
  bad = timing;
  bad.variant = std::string(300, 'x');
  EXPECT_EQ(decode_timings(encode_timing(bad))[0].variant.size(), 47u);
}

TEST(Record, IsWrittenOnlyBesideAProfile) {
  const CacheDirectory cache;
  const auto size = [&] {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(cache.file("timings"), error);
    return error ? 0 : static_cast<size_t>(bytes);
  };
  record("sort", "C", "cpu-1", {1 << 20, 1}, 0.5);
  EXPECT_FALSE(std::filesystem::exists(cache.path() + "/hoist"));
  ASSERT_TRUE(write_profile(sample_profile()));
  record("sort", "C", "cpu-1", {1 << 20, 1}, 0.5);
  record("sort", "C", "cpu-1", {1 << 20, 1}, 0.5);
  EXPECT_EQ(size(), 2 * kTimingSize);
  const auto read = decode_timings(read_file(cache.file("timings"), kTimingsLimit).value());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].variant, "sort/C");
  EXPECT_GE(read[1].cpus, 1);
  EXPECT_LE(read[1].cpus, usable_cpus());
  EXPECT_EQ(read[1].key, hoist_machine_key());

  std::filesystem::resize_file(cache.file("timings"), kTimingsLimit);
  record("sort", "C", "cpu-1", {1 << 20, 1}, 0.5);
  EXPECT_EQ(size(), kTimingSize);
  ::chmod(cache.file("timings").c_str(), 0622);
  record("sort", "C", "cpu-1", {1 << 20, 1}, 0.5);
  EXPECT_EQ(size(), kTimingSize);
}

TEST(Record, FromManyThreadsIsWhole) {
  const CacheDirectory cache;
  ASSERT_TRUE(write_profile(sample_profile()));
  ThreadPool pool(4);
  pool.parallel_for(200, [](size_t) { record("sort", "C", "cpu-1", {1 << 20, 1}, 0.5); });
  const std::string bytes = read_file(cache.file("timings"), kTimingsLimit).value();
  EXPECT_EQ(bytes.size(), 200 * kTimingSize);
  EXPECT_EQ(decode_timings(bytes).size(), 200u);
}

// A profile may come from elsewhere: a home directory that machines share, or before an update.
TEST(Refine, NeverPutsThisMachinesKeyOnAnothersProfile) {
  const CacheDirectory cache;
  Registry registry;
  ASSERT_TRUE(registry.add(sort_operation()));
  Timing timing = timing_of(1.09);
  timing.key = hoist_machine_key();
  std::string bytes;
  for (size_t i = 0; i < kTimingsWorthFolding; ++i) bytes += encode_timing(timing);
  for (std::string Machine::*field : {&Machine::cpu, &Machine::version}) {
    Profile profile = sample_profile();
    profile.machine.*field = "another";
    ASSERT_TRUE(write_profile(profile));
    std::filesystem::remove(cache.file("decisions"));
    std::ofstream(cache.file("timings")) << bytes;
    EXPECT_FALSE(refine_profile(registry).value());
    EXPECT_FALSE(std::filesystem::exists(cache.file("decisions")));
  }
}

TEST(Refine, FoldsWhatWaitsIntoTheFile) {
  const CacheDirectory cache;
  Registry registry;
  ASSERT_TRUE(registry.add(sort_operation()));
  EXPECT_FALSE(refine_profile(registry).value());  // nothing there
  Profile profile = sample_profile();
  decide(profile, nullptr, registry);
  ASSERT_TRUE(write_profile(profile));
  Timing timing = timing_of(1.09);
  timing.key = hoist_machine_key();
  std::string bytes;
  for (size_t i = 0; i + 1 < kTimingsWorthFolding; ++i) bytes += encode_timing(timing);
  std::ofstream(cache.file("timings")) << bytes;
  EXPECT_FALSE(refine_profile(registry).value());  // one too few
  std::ofstream(cache.file("timings")) << bytes + encode_timing(timing);
  EXPECT_TRUE(refine_profile(registry).value());
  EXPECT_FALSE(std::filesystem::exists(cache.file("timings")));
  const Result<Profile> refined = read_profile();
  ASSERT_TRUE(refined);
  EXPECT_NEAR(factor_of(*refined), 1.09, 0.002);
  EXPECT_EQ(refined->variants[0].rows.size(), profile.variants[0].rows.size());
}

}  // namespace
}  // namespace hoist::placement
