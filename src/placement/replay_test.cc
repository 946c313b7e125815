// A recorded profile, replayed: decisions are made from the sizes alone that `hoist tune --quick`
// would measure, and judged at all other sizes that were recorded, by the recorded times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/file.h"
#include "placement/decide.h"
#include "placement/decision_table.h"
#include "placement/measure.h"
#include "placement/placement_testing.h"
#include "placement/robust.h"

namespace hoist::placement {
namespace {

constexpr double kPromise = 0.03;
// The mean allows nothing for scatter, so that choices which are wrong by chance cannot hide in it.
constexpr double kMeanRegret = 0.005;

// What is recorded of a variant at `sizes`, decided.
MeasuredVariant part_of(const Profile& recorded, const MeasuredVariant& variant,
                        const std::set<uint64_t>& sizes) {
  Profile part = {recorded.machine, recorded.measured, {variant}};
  for (MeasuredImplementation& one : part.variants[0].implementations) {
    std::erase_if(one.points, [&](const Point& p) { return !sizes.contains(p.shape.bytes); });
  }
  decide(part, nullptr, Registry());
  return part.variants[0];
}

double distance(uint64_t a, uint64_t b) {
  return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

// The sizes of `hoist tune --quick`, with those that measure() adds where a choice changes far from
// all of them: here the recorded size that is nearest.
std::set<uint64_t> quick_sizes(const Profile& recorded, const MeasuredVariant& variant) {
  std::set<uint64_t> all;
  for (const Point& point : variant.implementations[0].points) all.insert(point.shape.bytes);
  std::set<uint64_t> sizes;
  for (const uint64_t size : log_spaced(16 << 10, 32 << 20, 4)) {
    if (all.contains(size)) sizes.insert(size);
  }
  const auto nearest = [](const std::set<uint64_t>& list, uint64_t size) {
    return *std::min_element(list.begin(), list.end(), [&](uint64_t a, uint64_t b) {
      return distance(a, size) < distance(b, size);
    });
  };
  for (int extra = 0; extra < 4; ++extra) {
    const MeasuredVariant part = part_of(recorded, variant, sizes);
    for (const Interval& interval : part.row_for(recorded.machine.cpus)->intervals) {
      const bool is_far = interval.from > 0 &&
                          distance(nearest(sizes, interval.from), interval.from) > std::log(1.15);
      if (is_far && sizes.insert(nearest(all, interval.from)).second) break;
    }
  }
  return sizes;
}

const Point* point_at(const MeasuredImplementation* measured, uint64_t bytes) {
  if (measured == nullptr) return nullptr;
  for (const Point& point : measured->points) {
    if (point.shape.bytes == bytes) return &point;
  }
  return nullptr;
}

struct Regret {
  double relative = 0;  // of the chosen one's time above the best one's
  double doubt = 0;     // two standard errors of the comparison of the two
};

// Nothing where the size was not recorded for the chosen implementation.
std::optional<Regret> regret_at(const MeasuredVariant& recorded, const std::string& chosen,
                                uint64_t bytes) {
  const Point* own = point_at(recorded.find(chosen), bytes);
  if (own == nullptr) return {};
  const Point* best = own;
  for (const MeasuredImplementation& one : recorded.implementations) {
    const Point* point = point_at(&one, bytes);
    if (point != nullptr && point->seconds < best->seconds) best = point;
  }
  return Regret{own->seconds / best->seconds - 1,
                2 * std::hypot(standard_error(own->noise, own->runs),
                               standard_error(best->noise, best->runs))};
}

class Replay : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> text = read_file(HOIST_RECORDED_PROFILE, kProfileLimit);
    ASSERT_TRUE(text) << text.error().message;
    Result<Profile> profile = parse_profile(*text);
    ASSERT_TRUE(profile) << profile.error().message;
    recorded_ = std::move(*profile);
  }

  Profile recorded_;
};

// Times are means of few runs, so that a difference counts as one only beyond what their scatter
// explains: the regret above that must keep the promise at every size. The mean over all sizes is
// taken without that allowance.
TEST_F(Replay, RegretIsAtMostThreePercent) {
  size_t judged = 0;
  double sum = 0;
  double worst = 0;
  for (const MeasuredVariant& variant : recorded_.variants) {
    const std::set<uint64_t> measured = quick_sizes(recorded_, variant);
    const MeasuredVariant quick = part_of(recorded_, variant, measured);
    const Row* row = quick.row_for(recorded_.machine.cpus);
    for (const Point& point : variant.implementations[0].points) {
      const uint64_t bytes = point.shape.bytes;
      if (measured.contains(bytes)) continue;
      std::string chosen;
      for (const Interval& interval : row->intervals) {
        if (interval.from <= bytes) chosen = interval.implementation;
      }
      const std::optional<Regret> regret = regret_at(variant, chosen, bytes);
      if (!regret) continue;
      EXPECT_LE(regret->relative, kPromise + regret->doubt)
          << variant.name << " " << bytes << " " << chosen;
      ++judged;
      sum += regret->relative;
      worst = std::max(worst, regret->relative);
    }
  }
  std::printf("%zu sizes judged, mean regret %.2f %%, worst %.1f %%\n", judged,
              100 * sum / static_cast<double>(judged), 100 * worst);
  EXPECT_GT(judged, 20u);
  EXPECT_LE(sum / static_cast<double>(judged), kMeanRegret);
}

TEST_F(Replay, IsOfAllOperations) {
  for (const char* name : {"sort/C", "hash/sha256sum", "hash/sha256sum-many", "gunzip/gzip"}) {
    const MeasuredVariant* variant = recorded_.find(name, Residency::host);
    ASSERT_NE(variant, nullptr) << name;
    EXPECT_EQ(variant->implementations.size(), 3u) << name;
  }
}

}  // namespace
}  // namespace hoist::placement
