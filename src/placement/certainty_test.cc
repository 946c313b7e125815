#include "placement/certainty.h"

#include <gtest/gtest.h>

namespace hoist::placement {
namespace {

TEST(Certainty, UncertaintyIsThatOfMostPoints) {
  EXPECT_EQ(uncertainty({}), 0);
  MeasuredVariant variant;
  variant.implementations = {
      {"original", {{{1, 1}, 1, 0.02, 4, 1}, {{2, 1}, 1, 5, 4, 1}}},  // one disturbed point
      {"cpu-1", {{{1, 1}, 1, 0.04, 4, 1}}}};
  EXPECT_DOUBLE_EQ(uncertainty(variant), 0.02);
  variant.implementations[1].points[0].noise = 3;
  EXPECT_DOUBLE_EQ(uncertainty(variant), 1.5);
  variant.implementations[1].points[0].seconds = 1e9;  // whatever it scatters, it may be the best
  EXPECT_DOUBLE_EQ(uncertainty(variant), 1.5);
  variant.implementations[1].points[0] = {{1, 1}, 2, 0.04, 4, 1};  // far behind: it does not matter
  EXPECT_DOUBLE_EQ(uncertainty(variant), 2.5);
}

TEST(Certainty, ABusyMachinesMeasurementsAreReadWithCaution) {
  EXPECT_EQ(caution({}), 1);
  MeasuredVariant variant;
  variant.implementations = {{"original", {{{1, 1}, 1, 0.1, 4, 1}}}};  // 5 %
  EXPECT_EQ(caution(variant), 1);
  variant.implementations[0].points[0].noise = 0.11;
  EXPECT_EQ(caution(variant), 2);
}

}  // namespace
}  // namespace hoist::placement
