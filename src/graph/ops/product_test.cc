#include "graph/ops/product.h"

#include <gtest/gtest.h>

#include <thread>

#include "graph/ops/kernels.h"
#include "graph/ops/testing.h"

namespace hoist::graph {
namespace {

void check(Random& random, size_t rows, size_t columns, size_t depth) {
  const Guarded a(random.normal(rows * depth));
  const Guarded b(random.normal(depth * columns));
  const Guarded c(std::vector<float>(rows * columns, kNan));
  multiply(ProductShape::dense(rows, columns, depth), a.data(), b.data(), c.data());
  // A sample of large ones.
  const size_t step = 1 + rows * columns * depth / 4'000'000 * 7;
  for (size_t at = 0; at < rows * columns; at += step) {
    const size_t i = at / columns;
    const size_t j = at % columns;
    double sum = 0;
    double sizes = 0;
    for (size_t p = 0; p < depth; ++p) {
      const double product = double{a[i * depth + p]} * b[p * columns + j];
      sum += product;
      sizes += std::fabs(product);
    }
    ASSERT_LE(std::fabs(c[at] - sum), static_cast<double>(depth) * kUnit * sizes)
        << rows << " x " << columns << " x " << depth << " at " << i << ", " << j;
  }
}

TEST(ProductTest, MatchesPlainLoops) {
  Random random;
  for (size_t rows = 1; rows <= 26; ++rows) {
    for (const size_t columns : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65}) {
      for (const size_t depth : {1, 2, 17, 64}) check(random, rows, columns, depth);
    }
  }
}

TEST(ProductTest, MatchesPlainLoopsWhereItGoesByBlocks) {
  Random random;
  check(random, 530, 530, 530);
  check(random, 2000, 33, 2500);
  check(random, 193, 5000, 153);
  check(random, 3000, 2500, 20);
}

TEST(ProductTest, MatchesPlainLoopsWhereOneSideIsLong) {
  Random random;
  check(random, 1, 3000, 3000);
  check(random, 3000, 1, 300);
  check(random, 12, 40, 100'000);
  check(random, 40, 100'000, 3);
}

// Whether it goes by blocks or not, and whatever rows and columns are computed together.
TEST(ProductTest, PartsHaveTheBitsOfTheWhole) {
  Random random;
  constexpr size_t kRows = 150;
  constexpr size_t kColumns = 700;
  constexpr size_t kDepth = 1400;
  const std::vector<float> a = random.normal(kRows * kDepth);
  const std::vector<float> b = random.normal(kDepth * kColumns);
  const ProductShape whole = ProductShape::dense(kRows, kColumns, kDepth);
  for (const ops_detail::Kernels<float>* kernels : ops_detail::runnable_f32()) {
    std::vector<float> expected(kRows * kColumns);
    ops_detail::multiply(*kernels, whole, a.data(), b.data(), expected.data());
    for (const size_t rows : {size_t{1}, size_t{3}, size_t{13}, size_t{64}}) {
      std::vector<float> found(kRows * kColumns);
      for (size_t i = 0; i < kRows; i += rows) {
        ProductShape part = whole;
        part.rows = std::min(rows, kRows - i);
        ops_detail::multiply(*kernels, part, a.data() + i * kDepth, b.data(),
                             found.data() + i * kColumns);
      }
      EXPECT_EQ(found, expected) << kernels->name << ", " << rows << " rows at a time";
    }
    ProductShape part = whole;
    part.columns = 37;
    std::vector<float> found(kRows * kColumns);
    ops_detail::multiply(*kernels, part, a.data(), b.data() + 50, found.data() + 50);
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 50; j < 87; ++j) {
        ASSERT_EQ(found[i * kColumns + j], expected[i * kColumns + j]) << kernels->name;
      }
    }
  }
}

TEST(ProductTest, NothingIsZeros) {
  std::vector<float> c(6, kNan);
  multiply(ProductShape::dense(2, 3, 0), nullptr, nullptr, c.data());
  EXPECT_EQ(c, std::vector<float>(6, 0.0f));
  multiply(ProductShape::dense(0, 3, 4), nullptr, nullptr, nullptr);
}

TEST(ProductTest, RowsMayHaveGaps) {
  Random random;
  const std::vector<float> a = random.normal(5 * 9);
  const std::vector<float> b = random.normal(4 * 11);
  std::vector<float> c(5 * 12, kNan);
  multiply({.rows = 5, .columns = 7, .depth = 4, .a_row = 9, .b_row = 11, .c_row = 12}, a.data(),
           b.data(), c.data());
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 12; ++j) {
      double sum = 0;
      for (size_t p = 0; p < 4 && j < 7; ++p) sum += double{a[i * 9 + p]} * b[p * 11 + j];
      if (j < 7) {
        EXPECT_NEAR(c[i * 12 + j], sum, 1e-5);
      } else {
        EXPECT_TRUE(std::isnan(c[i * 12 + j]));
      }
    }
  }
}

TEST(ProductTest, NanAndInfinityReachTheResult) {
  const std::vector<float> a = {kNan, 0.0f, kInfinity, 1.0f};
  const std::vector<float> b = {1.0f, 0.0f, 0.0f, 2.0f};
  std::vector<float> c(4);
  multiply(ProductShape::dense(2, 2, 2), a.data(), b.data(), c.data());
  EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[1]) && std::isnan(c[3]));
  EXPECT_EQ(c[2], kInfinity);
}

TEST(ProductTest, VectorsAreProductsToo) {
  Random random;
  for (const size_t rows : {0, 1, 3, 50}) {
    for (const size_t columns : {0, 1, 15, 64, 1000}) {
      const Guarded a(random.normal(rows * columns));
      const Guarded x(random.normal(columns));
      const Guarded y(rows);
      multiply(rows, columns, a.data(), x.data(), y.data());
      for (size_t i = 0; i < rows; ++i) {
        double sum = 0;
        double sizes = 0;
        for (size_t j = 0; j < columns; ++j) {
          sum += double{a[i * columns + j]} * x[j];
          sizes += std::fabs(double{a[i * columns + j]} * x[j]);
        }
        ASSERT_LE(std::fabs(y[i] - sum), 23 * kUnit * sizes);
      }
    }
  }
}

TEST(ProductTest, ThreadsHaveTheirOwnPanels) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      Random random;
      check(random, 530, 530, 530);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::graph
