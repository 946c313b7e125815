#include "tensors/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/test_seed.h"
#include "tensors/quality_curve.h"

namespace hoist::tensors {
namespace {

TEST(Shape, IsAMatrix) {
  const auto expect = [](const Shape& shape, uint64_t rows, uint64_t columns) {
    EXPECT_EQ(matrix_shape(shape).rows, rows);
    EXPECT_EQ(matrix_shape(shape).columns, columns);
  };
  expect({}, 1, 1);
  expect({9}, 1, 9);
  expect({4, 5}, 4, 5);
  expect({4, 5, 6, 7}, 4, 210);
}

TEST(QualityCurve, PrefixesEndAtTheFirstGap) {
  QualityCurve curve;
  curve.prefixes = {{0.9, 0.95}, {0.98, 0.99}, {1, 1}};
  EXPECT_EQ(curve.quality({}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 2}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{2, 0}), 0.9);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 0, 7}), 0.98);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 0, 2}), 1);
  EXPECT_EQ(curve.parts_for(0.5), 1u);
  EXPECT_EQ(curve.parts_for(0.98), 2u);
  EXPECT_EQ(curve.parts_for(0.99), 3u);
  EXPECT_EQ(curve.parts_for(2), 3u);
}

TEST(QualityCurve, FragmentsAddUp) {
  const QualityCurve curve{
      .prefixes = {{0.5, 0.7}, {1, 1}}, .common = 0.25, .energies = {0.5, 0.25}};
  EXPECT_EQ(curve.quality({}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{9}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1}), 0.5);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 0}), 1);
}

}  // namespace
}  // namespace hoist::tensors
