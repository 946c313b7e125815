#include "tensors/transform/spectral.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "base/test_seed.h"

namespace hoist::tensors {
namespace {

// Lengths of rows by sorting all coefficients.
std::vector<uint64_t> slow_lengths(MatrixShape matrix, uint64_t count) {
  std::vector<std::tuple<uint64_t, uint64_t>> order;
  for (uint64_t i = 0; i < matrix.rows; ++i) {
    for (uint64_t j = 0; j < matrix.columns; ++j) {
      order.emplace_back(i * matrix.columns + j * matrix.rows, i);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<uint64_t> lengths(matrix.rows);
  for (uint64_t k = 0; k < count; ++k) ++lengths[std::get<1>(order[k])];
  return lengths;
}

void check(MatrixShape matrix, uint64_t count) {
  const EssentialRegion region(matrix, count);
  const std::vector<uint64_t> lengths = slow_lengths(matrix, count);
  uint64_t before = 0;
  for (uint64_t row = 0; row < matrix.rows; ++row) {
    ASSERT_EQ(region.length(row), lengths[row])
        << matrix.rows << " x " << matrix.columns << ", " << count << ", row " << row;
    ASSERT_EQ(region.before(row), before);
    ASSERT_LE(lengths[row], lengths[row == 0 ? 0 : row - 1]);
    before += lengths[row];
  }
  ASSERT_EQ(before, count);
  uint64_t item = 0;
  for (uint64_t row = 0; row < matrix.rows; ++row) {
    for (uint64_t j = lengths[row]; j < matrix.columns; ++j) {
      ASSERT_EQ(region.row_of_item(item++), row);
    }
  }
}

TEST(EssentialRegion, HasTheLowestFrequencies) {
  std::mt19937_64 random(test_seed());
  for (const MatrixShape matrix :
       {MatrixShape{1, 1}, {1, 17}, {17, 1}, {2, 2}, {8, 8}, {7, 13}, {13, 7}, {12, 18}, {3, 40}}) {
    for (uint64_t count = 0; count <= matrix.rows * matrix.columns; ++count) check(matrix, count);
  }
  for (int round = 0; round < 30; ++round) {
    const MatrixShape matrix = {1 + random() % 60, 1 + random() % 60};
    check(matrix, random() % (matrix.rows * matrix.columns + 1));
  }
}

TEST(EssentialRegion, LongestSides) {
  constexpr uint64_t kSide = uint64_t{1} << 27;
  const EssentialRegion row({1, kSide}, 12'345);
  EXPECT_EQ(row.length(0), 12'345u);
  EXPECT_EQ(row.row_of_item(kSide - 12'346), 0u);
}

TEST(EssentialCount, LeavesWholeGroups) {
  std::mt19937_64 random(test_seed());
  EXPECT_EQ(essential_count(1, 0.02, 8), 1u);
  EXPECT_EQ(essential_count(1000, 1, 7), 1000u);
  EXPECT_EQ(essential_count(1000, 0, 1), 1u);
  for (int round = 0; round < 1000; ++round) {
    const uint64_t elements = 1 + random() % 10'000;
    const auto fragments = static_cast<uint32_t>(1 + random() % 255);
    const double share = static_cast<double>(random() % 101) / 100;
    const uint64_t count = essential_count(elements, share, fragments);
    ASSERT_GE(count, 1u);
    ASSERT_LE(count, elements);
    ASSERT_EQ((elements - count) % fragments, 0u);
    ASSERT_GE(static_cast<double>(count), share * static_cast<double>(elements));
    ASSERT_LT(static_cast<double>(count), share * static_cast<double>(elements) + 1 + fragments);
  }
}

}  // namespace
}  // namespace hoist::tensors
