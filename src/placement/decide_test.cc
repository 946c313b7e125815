#include "placement/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "placement/decision_table.h"
#include "placement/placement_testing.h"
#include "takeover/decisions.h"

namespace hoist::placement {
namespace {

struct Cost {
  double fixed;
  double per_byte;
  double power = 1;
  double operator()(double bytes) const { return fixed + per_byte * std::pow(bytes, power); }
};

Profile profile_of(const Cost& original, const Cost& one, const Cost& all, int cpus = 4) {
  Profile profile;
  profile.machine = {"cpu", "", "", cpus, "1"};
  profile.measured = "2026-01-01T00:00:00Z";
  MeasuredVariant variant;
  variant.name = "sort/C";
  variant.implementations = {{"original", points_of(original)}, {"cpu-1", points_of(one)}};
  if (cpus > 1) variant.implementations.push_back({"cpu-all", points_of(all)});
  profile.variants = {variant};
  return profile;
}

class Decide : public ::testing::Test {
 protected:
  Decide() { EXPECT_TRUE(registry_.add(sort_operation())); }

  Profile decided(Profile profile, const Profile* previous = nullptr) {
    decide(profile, previous, registry_);
    return profile;
  }
  const VariantHandle& sort() { return *registry_.find_variant("sort/C"); }

  Registry registry_;
};

std::string chosen(const Row& row, uint64_t bytes) {
  std::string name;
  for (const Interval& interval : row.intervals) {
    if (interval.from <= bytes) name = interval.implementation;
  }
  return name;
}

TEST_F(Decide, FindsTheBreakEvens) {
  // 1 ms more of start against 1 ns less a byte; then 4 ms more against half the rest.
  const Profile profile = decided(profile_of({1e-3, 2e-9}, {2e-3, 1e-9}, {6e-3, 0.5e-9}));
  ASSERT_EQ(profile.variants[0].rows.size(), 3u);  // 1, 2 and 4 CPUs
  const std::vector<Interval>& row = profile.variants[0].rows[2].intervals;
  ASSERT_EQ(row.size(), 3u);
  EXPECT_EQ(row[0], (Interval{0, "original"}));
  EXPECT_EQ(row[1].implementation, "cpu-1");
  EXPECT_NEAR(static_cast<double>(row[1].from), 1e6, 0.06e6);  // beyond it by what kStay asks
  EXPECT_GE(row[1].from, 1000000u);
  EXPECT_EQ(row[2].implementation, "cpu-all");
  EXPECT_NEAR(static_cast<double>(row[2].from), 8e6, 0.5e6);
}

TEST_F(Decide, OnABusyMachineOnlyWhatIsFarAheadIsChosen) {
  // One CPU's engine takes 0.8 of the time, all CPUs' far less from about 8 MiB on.
  Profile measured = profile_of({1e-3, 2e-9}, {0.8e-3, 1.6e-9}, {16e-3, 0.1e-9});
  const auto chosen_with = [&](double noise, uint64_t bytes) {
    for (MeasuredImplementation& one : measured.variants[0].implementations) {
      for (Point& point : one.points) point.noise = noise * std::sqrt(point.runs);
    }
    return chosen(decided(measured).variants[0].rows[2], bytes);
  };
  EXPECT_EQ(chosen_with(0.01, 4 << 20), "cpu-1");
  EXPECT_EQ(chosen_with(0.04, 4 << 20), "cpu-1");
  EXPECT_EQ(chosen_with(0.15, 4 << 20), "original");
  for (const double noise : {0.01, 0.04, 0.15}) EXPECT_EQ(chosen_with(noise, 64 << 20), "cpu-all");
}

TEST_F(Decide, OneCpuNeverRunsOnAll) {
  const Profile profile = decided(profile_of({1e-2, 2e-9}, {1e-3, 1e-9}, {1e-6, 1e-10}));
  const MeasuredVariant& variant = profile.variants[0];
  for (const Interval& interval : variant.rows[0].intervals) {
    EXPECT_NE(interval.implementation, "cpu-all");
  }
  EXPECT_EQ(chosen(variant.rows[2], 1u << 20), "cpu-all");
  const DecisionTable table(sort(), Residency::host, &profile, 1);
  EXPECT_EQ(table.find(1u << 30).implementation, 1u);
  // Even where a row says so.
  Profile forged = profile;
  forged.variants[0].rows[0].intervals = {{0, "cpu-all"}};
  EXPECT_EQ(DecisionTable(sort(), Residency::host, &forged, 1).find(5).implementation, 1u);
}

TEST_F(Decide, UnmeasuredMeansUnused) {
  Profile profile = profile_of({1e-3, 2e-9}, {1e-9, 1e-12}, {1e-9, 1e-12});
  profile.variants[0].implementations.pop_back();
  std::erase_if(profile.variants[0].implementations,
                [](const auto& one) { return one.name == "cpu-1"; });
  profile = decided(profile);
  for (const Row& row : profile.variants[0].rows) {
    EXPECT_EQ(row.intervals, (std::vector<Interval>{{0, "original"}}));
  }
}

TEST_F(Decide, ShapesThatAreNotSupportedAreLeftToTheNextBest) {
  Registry registry;
  Operation operation = sort_operation();
  operation.implementations[1].supports = [](const Shape& shape) { return shape.bytes < 5000000; };
  ASSERT_TRUE(registry.add(operation));
  Profile profile = profile_of({1e-3, 2e-9}, {1e-4, 1e-9}, {1, 1}, 1);
  decide(profile, nullptr, registry);
  const std::vector<Interval> expected = {
      {0, "original"}, {16 << 10, "cpu-1"}, {5000000, "original"}};
  EXPECT_EQ(profile.variants[0].rows[0].intervals, expected);
}

// Two standard errors of 6 % each are 17 % for both.
TEST_F(Decide, WhatNeedsALeadIsNotChosenForLess) {
  Registry registry;
  Operation operation = sort_operation();
  operation.implementations[2].lead = 2;
  ASSERT_TRUE(registry.add(operation));
  const auto chosen_when = [&](double gain) {
    Profile profile = profile_of({1e-2, 2e-9}, {1e-4, 1e-9}, {1e-4 / gain, 1e-9 / gain});
    for (MeasuredImplementation& one : profile.variants[0].implementations) {
      for (Point& point : one.points) point.noise = 0.03 * std::sqrt(point.runs);
    }
    decide(profile, nullptr, registry);
    return chosen(profile.variants[0].rows[2], 1 << 20);
  };
  EXPECT_EQ(chosen_when(1.06), "cpu-1");  // ahead of it by more than one
  EXPECT_EQ(chosen_when(1.1), "cpu-all");
}

TEST_F(Decide, HysteresisKeepsWhatIsNearlyAsGood) {
  const Profile before = decided(profile_of({1e-3, 2e-9}, {2e-3, 1e-9}, {1, 1}, 1));
  // 0.8 % faster: no gain. 10 % faster: the break-even moves.
  const Profile near = decided(profile_of({1e-3, 2e-9}, {1.984e-3, 0.992e-9}, {1, 1}, 1), &before);
  EXPECT_EQ(near.variants[0].rows[0].intervals, before.variants[0].rows[0].intervals);
  const Profile far = decided(profile_of({1e-3, 2e-9}, {1.8e-3, 0.9e-9}, {1, 1}, 1), &before);
  EXPECT_LT(far.variants[0].rows[0].intervals[1].from,
            before.variants[0].rows[0].intervals[1].from);
}

// Whatever the curves: what is chosen costs at most 3 % more than the best, and with an earlier
// decision too.
TEST_F(Decide, RegretIsAtMostThreePercentOnRandomCurves) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  Profile previous;
  for (int round = 0; round < 60; ++round) {
    Cost costs[3];
    for (Cost& cost : costs) cost = {between(1e-4, 1e-2), between(1e-11, 1e-8), between(1, 1.2)};
    const Profile profile =
        decided(profile_of(costs[0], costs[1], costs[2]), round % 2 == 0 ? nullptr : &previous);
    previous = profile;
    const DecisionTable table(sort(), Residency::host, &profile, 4);
    for (double bytes = 1 << 14; bytes < 1 << 26; bytes *= 1.013) {
      const auto size = static_cast<uint64_t>(bytes);
      double seconds[3];
      for (int i = 0; i < 3; ++i) seconds[i] = costs[i](static_cast<double>(size));
      const double best = *std::min_element(seconds, seconds + 3);
      ASSERT_LE(seconds[table.find(size).implementation], best * 1.03) << size;
    }
  }
}

TEST_F(Decide, WhatNeedsAHoistdIsDecidedAboutApart) {
  Registry registry;
  Operation operation = sort_operation();
  operation.implementations.push_back({.name = "hoistd", .threads = 0});
  ASSERT_TRUE(registry.add(operation));
  const VariantHandle& sort = *registry.find_variant("sort/C");
  Profile profile = profile_of({1e-3, 2e-9}, {2e-3, 1e-9}, {6e-3, 0.5e-9});
  const Profile without = decided(profile);
  EXPECT_TRUE(without.variants[0].rows_with_hoistd.empty());
  profile.variants[0].implementations.push_back({"hoistd", points_of(Cost{8e-3, 0.1e-9})});
  decide(profile, nullptr, registry);
  const MeasuredVariant& variant = profile.variants[0];
  ASSERT_EQ(variant.rows.size(), 3u);
  ASSERT_EQ(variant.rows_with_hoistd.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(variant.rows[i].intervals, without.variants[0].rows[i].intervals);
  }
  EXPECT_EQ(chosen(variant.rows_with_hoistd[2], 2 << 20), "cpu-1");
  EXPECT_EQ(chosen(variant.rows_with_hoistd[2], 64 << 20), "hoistd");
  EXPECT_EQ(variant.row_for(4, true), &variant.rows_with_hoistd[2]);
  EXPECT_EQ(variant.row_for(4), &variant.rows[2]);
  EXPECT_EQ(without.variants[0].row_for(4, true), &without.variants[0].rows[2]);

  const std::string text = decisions_text(profile);
  hoist_decisions decisions;
  ASSERT_TRUE(hoist_parse_decisions(&decisions, text.data(), text.size(), hoist_machine_key()));
  for (const bool with_hoistd : {false, true}) {
    const DecisionTable table(sort, Residency::host, &profile, 4, with_hoistd);
    const std::string row = with_hoistd ? "sort/C+hoistd" : "sort/C";
    for (double bytes = 1; bytes < 1e10; bytes *= 1.1) {
      const auto size = static_cast<uint64_t>(bytes);
      ASSERT_EQ(hoist_choice_name(hoist_decide(&decisions, row.c_str(), 4, size)),
                operation.implementations[table.find(size).implementation].name);
    }
  }
  // What was decided with one counts for what is decided with one.
  const Profile before = profile;
  profile.variants[0].implementations[3].points = points_of(Cost{7.94e-3, 0.0993e-9});
  decide(profile, &before, registry);
  EXPECT_EQ(profile.variants[0].rows_with_hoistd[2].intervals,
            before.variants[0].rows_with_hoistd[2].intervals);
}

TEST_F(Decide, TheFileSaysTheSame) {
  const Profile profile = decided(profile_of({1e-3, 2e-9}, {2e-3, 1e-9}, {6e-3, 0.5e-9}));
  const std::string text = decisions_text(profile);
  hoist_decisions decisions;
  ASSERT_TRUE(hoist_parse_decisions(&decisions, text.data(), text.size(), hoist_machine_key()))
      << text;
  for (int cpus = 1; cpus <= 6; ++cpus) {
    const DecisionTable table(sort(), Residency::host, &profile, cpus);
    for (double bytes = 1; bytes < 1e12; bytes *= 1.1) {
      const auto size = static_cast<uint64_t>(bytes);
      const std::string& name =
          sort().operation().implementations[table.find(size).implementation].name;
      ASSERT_EQ(hoist_choice_name(hoist_decide(&decisions, "sort/C", cpus, size)), name);
    }
  }
}

// The look-up against a walk over the intervals.
TEST_F(Decide, TableFindsTheIntervalOfEverySize) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const char* const names[] = {"original", "cpu-1", "cpu-all"};
  for (int round = 0; round < 300; ++round) {
    Profile profile = profile_of({1, 1}, {1, 1}, {1, 1});
    Row row{1, {{0, names[random() % 3]}}};
    for (uint64_t left = random() % 12; left > 0; --left) {
      const uint64_t from = random() >> (random() % 64);
      if (from > row.intervals.back().from) row.intervals.push_back({from, names[random() % 3]});
    }
    profile.variants[0].rows = {row};
    const DecisionTable table(sort(), Residency::host, &profile, 4);
    const auto check = [&](uint64_t bytes) {
      const Choice& choice = table.find(bytes);
      ASSERT_EQ(names[choice.implementation], chosen(row, bytes)) << bytes;
      ASSERT_LE(choice.from, bytes);
      ASSERT_TRUE(bytes < choice.until || choice.until == UINT64_MAX);
      ASSERT_EQ(choice.basis, Basis::measured);
    };
    for (const Interval& interval : row.intervals) {
      for (const uint64_t delta : {UINT64_MAX, uint64_t{0}, uint64_t{1}}) {
        check(interval.from + delta);
      }
    }
    for (int i = 0; i < 200; ++i) check(random() >> (random() % 64));
    check(0);
    check(UINT64_MAX);
  }
}

TEST_F(Decide, WithoutAProfileTheDefaultsDecide) {
  const DecisionTable table(sort(), Residency::host, nullptr, 4);
  EXPECT_EQ(table.find((512 << 10) - 1).implementation, 0u);
  EXPECT_EQ(table.find(512 << 10).implementation, 2u);
  EXPECT_EQ(table.find(512 << 10).basis, Basis::compiled_in);
  EXPECT_EQ(DecisionTable(sort(), Residency::host, nullptr, 1).find(512 << 10).implementation, 1u);
}

TEST(Registry, RefusesWhatCannotBeLookedUp) {
  Registry registry;
  ASSERT_TRUE(registry.add(sort_operation()));
  EXPECT_EQ(registry.add(sort_operation()).error().code, ErrorCode::invalid_argument);
  Operation operation = sort_operation();
  operation.name = "a b";
  EXPECT_FALSE(registry.add(operation));
  operation.name = "empty";
  operation.variants.clear();
  EXPECT_FALSE(registry.add(operation));
  operation = sort_operation();
  operation.name = "none";
  operation.implementations.clear();
  EXPECT_FALSE(registry.add(operation));
  EXPECT_EQ(registry.find("none"), nullptr);
  EXPECT_EQ(registry.find_variant("sort/x"), nullptr);
  EXPECT_EQ(registry.find_variant("sort/C")->name(), "sort/C");
}

}  // namespace
}  // namespace hoist::placement
