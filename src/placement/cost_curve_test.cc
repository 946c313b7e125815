#include "placement/cost_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "placement/placement_testing.h"
#include "placement/robust.h"

namespace hoist::placement {
namespace {

// The largest relative error of the curve up to `most` bytes.
template <typename Cost>
double worst_error(Cost&& cost, double most = 512 << 20) {
  const CostCurve curve(points_of(cost));
  double worst = 0;
  for (double bytes = 1 << 10; bytes < most; bytes *= 1.07) {
    const auto whole = static_cast<uint64_t>(bytes);
    worst = std::max(worst, std::abs(curve.seconds(whole) / cost(static_cast<double>(whole)) - 1));
  }
  return worst;
}

TEST(CostCurve, IsExactForAFixedPartAndAPower) {
  EXPECT_LT(worst_error([](double x) { return 1e-3 + 2e-9 * x; }), 1e-6);
  EXPECT_LT(worst_error([](double x) { return 3e-9 * x; }), 1e-6);
  EXPECT_LT(worst_error([](double x) { return 1e-3 + 1e-10 * x * std::log2(x); }, 64 << 20), 0.02);
}

TEST(CostCurve, ADisturbedPointDoesNotLiftThoseBesideIt) {
  const CostCurve curve({{{1 << 10, 1}, 1e-3, 0.01, 9, 1},
                         {{2 << 10, 1}, 80e-3, 0.5, 4, 1},  // of 2 ms
                         {{4 << 10, 1}, 4e-3, 0.01, 9, 1},
                         {{8 << 10, 1}, 8e-3, 0.01, 9, 1}});
  EXPECT_NEAR(curve.seconds(2 << 10), 4e-3, 0.1e-3);
  EXPECT_NEAR(curve.seconds(4 << 10), 4e-3, 0.1e-3);
  EXPECT_NEAR(curve.seconds(8 << 10), 8e-3, 1e-6);
}

// All runs of a size may meet the same disturbance, and agree.
TEST(CostCurve, NorDoesOneThatWasDisturbedAllTheTime) {
  const CostCurve curve({{{1 << 10, 1}, 1e-3, 0.01, 9, 1},
                         {{2 << 10, 1}, 80e-3, 0.01, 9, 1},
                         {{4 << 10, 1}, 4e-3, 0.01, 9, 1},
                         {{8 << 10, 1}, 8e-3, 0.01, 9, 1},
                         {{16 << 10, 1}, 16e-3, 0.01, 9, 1}});
  EXPECT_NEAR(curve.seconds(4 << 10), 4e-3, 0.1e-3);
  EXPECT_NEAR(curve.seconds(8 << 10), 8e-3, 0.1e-3);
  EXPECT_NEAR(curve.seconds(16 << 10), 16e-3, 1e-6);
}

TEST(CostCurve, UncertaintyIsThatOfTheWeightedMean) {
  const CostCurve curve({{{1 << 10, 1}, 1e-3, 0.2, 100, 1}, {{16 << 10, 1}, 2e-3, 0.04, 4, 1}});
  EXPECT_DOUBLE_EQ(curve.uncertainty(1), 0.02);
  EXPECT_DOUBLE_EQ(curve.uncertainty(1 << 10), 0.02);
  EXPECT_DOUBLE_EQ(curve.uncertainty(4 << 10), std::sqrt(2) * 0.01);  // half of either
  EXPECT_DOUBLE_EQ(curve.uncertainty(16 << 10), 0.02);
  EXPECT_DOUBLE_EQ(curve.uncertainty(1 << 20), 0.02);
  const CostCurve uneven({{{1 << 10, 1}, 1e-3, 0.5, 1, 1}, {{4 << 10, 1}, 2e-3, 0.01, 1, 1}});
  EXPECT_LT(uneven.uncertainty(4000), 0.015);  // far from the uncertain one
}

TEST(CostCurve, NeverFallsWhateverThePoints) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> noise(0, 0.5);
  for (int round = 0; round < 200; ++round) {
    const CostCurve curve(points_of([&](double x) { return (1e-3 + 1e-9 * x) * noise(random); }));
    double before = 0;
    for (double bytes = 1; bytes < 1e12; bytes *= 1.3) {
      const double seconds = curve.seconds(static_cast<uint64_t>(bytes));
      ASSERT_TRUE(std::isfinite(seconds));
      ASSERT_GE(seconds, before * (1 - 1e-12)) << bytes;
      before = seconds;
    }
    EXPECT_GE(curve.fixed(), 0);
    EXPECT_LE(curve.fixed(), curve.seconds(0) * (1 + 1e-12));
  }
}

TEST(CostCurve, OnePointAndNoBytes) {
  const CostCurve one({{{1000, 1}, 2.0, 0, 1, 1}});
  EXPECT_DOUBLE_EQ(one.seconds(0), 2.0);
  EXPECT_DOUBLE_EQ(one.seconds(1000), 2.0);
  EXPECT_DOUBLE_EQ(one.seconds(2000), 4.0);
  const CostCurve from_zero({{{0, 1}, 1.0, 0, 1, 1}, {{100, 1}, 3.0, 0, 1, 1}});
  EXPECT_DOUBLE_EQ(from_zero.seconds(0), 1.0);
  EXPECT_DOUBLE_EQ(from_zero.seconds(50), 2.0);
  EXPECT_DOUBLE_EQ(from_zero.seconds(200), 5.0);
}

TEST(CostCurve, GrowsByAPowerBeyondTheLastPoint) {
  const std::vector<Point> points = points_of([](double x) { return 1e-12 * std::pow(x, 1.5); });
  const CostCurve curve(points, 1.5);
  const CostCurve straight(points);
  const uint64_t last = points.back().shape.bytes;
  EXPECT_DOUBLE_EQ(curve.seconds(last), straight.seconds(last));
  EXPECT_DOUBLE_EQ(curve.seconds(last / 3), straight.seconds(last / 3));
  for (const uint64_t times : {2, 5, 64}) {
    const double exact = 1e-12 * std::pow(static_cast<double>(times * last), 1.5);
    EXPECT_NEAR(curve.seconds(times * last), exact, 1e-9 * exact) << times;
    EXPECT_LT(straight.seconds(times * last), 0.9 * exact) << times;
  }
  EXPECT_DOUBLE_EQ(CostCurve({{{0, 1}, 1.0, 0, 1, 1}}, 1.5).seconds(100), 1.0);
}

TEST(CostCurve, FactorsMoveTheirPoints) {
  std::vector<Point> points = points_of([](double x) { return 1e-9 * x; });
  const double before = CostCurve(points).seconds(1 << 20);
  for (Point& point : points) point.factor = 1.25;
  EXPECT_NEAR(CostCurve(points).seconds(1 << 20), 1.25 * before, 1e-12);
}

TEST(CostCurve, FewerCpusTakeTheParallelPartLonger) {
  EXPECT_DOUBLE_EQ(with_cpus(8, 2, 8, 8), 2);
  EXPECT_DOUBLE_EQ(with_cpus(8, 2, 8, 1), 8);
  EXPECT_DOUBLE_EQ(with_cpus(8, 1, 8, 4), 2);  // all of it is parallel
  EXPECT_DOUBLE_EQ(with_cpus(8, 9, 8, 2), 9);  // nothing was saved, so nothing is lost
  EXPECT_DOUBLE_EQ(with_cpus(8, 2, 1, 1), 2);
}

TEST(Robust, DisturbedRunsHardlyCount) {
  const std::vector<double> samples = {1.00, 50.0, 1.01, 0.99, 80.0, 1.02, 9.0, 1.00, 1.01};
  EXPECT_NEAR(winsorised_mean(samples), 1.01, 0.01);
  EXPECT_LT(relative_noise(samples), 0.03);
  EXPECT_DOUBLE_EQ(winsorised_mean({}), 0);
  const std::vector<double> one = {3.0};
  EXPECT_DOUBLE_EQ(winsorised_mean(one), 3);
  EXPECT_DOUBLE_EQ(relative_noise(one), 0);
  const std::vector<double> scattered = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(winsorised_mean(scattered), 2.4);
  EXPECT_DOUBLE_EQ(relative_noise(scattered), 1.4826 / 3);
  EXPECT_DOUBLE_EQ(standard_error(0.3, 9), 0.1);
}

}  // namespace
}  // namespace hoist::placement
