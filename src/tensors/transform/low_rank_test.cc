#include "tensors/transform/low_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/test_seed.h"
#include "tensors/transform/product.h"

namespace hoist::tensors {
namespace {

using Floats = std::vector<float>;

Floats random_floats(size_t size, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  Floats values(size);
  for (float& value : values) value = normal(random);
  return values;
}

double slow_element(const MatrixView& a, const MatrixView& b, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < a.columns; ++k) {
    sum += static_cast<double>(a.values[i * a.stride + k]) * b.values[k * b.stride + j];
  }
  return sum;
}

TEST(Product, EveryKernelMatchesTheOracle) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(3);
  const size_t sizes[] = {1, 2, 5, 6, 7, 16, 33, 64, 65, 97, 130, 256, 257, 300};
  for (const product_detail::Kernel& kernel : product_detail::kernels()) {
    for (int round = 0; round < 25; ++round) {
      const auto pick = [&] { return sizes[random() % std::size(sizes)]; };
      const size_t rows = pick();
      const size_t depth = pick();
      const size_t columns = pick();
      const size_t a_stride = depth + random() % 3;
      const size_t b_stride = columns + random() % 3;
      const Floats a = random_floats(rows * a_stride, random);
      const Floats b = random_floats(depth * b_stride, random);
      const MatrixView av = {a.data(), rows, depth, a_stride};
      const MatrixView bv = {b.data(), depth, columns, b_stride};
      Floats c(rows * columns, 7);
      product_detail::multiply_with(kernel, av, bv, c, &pool);
      Floats alone(rows * columns);
      product_detail::multiply_with(kernel, av, bv, alone, nullptr);
      ASSERT_EQ(c, alone);
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < columns; ++j) {
          ASSERT_NEAR(c[i * columns + j], slow_element(av, bv, i, j),
                      1e-5 * static_cast<double>(depth))
              << kernel.name << " " << rows << " " << depth << " " << columns;
        }
      }
    }
  }
}

TEST(Product, Transpose) {
  std::mt19937_64 random(test_seed());
  for (const size_t rows : {1, 15, 16, 50}) {
    for (const size_t columns : {1, 16, 33}) {
      const Floats from = random_floats(rows * (columns + 2), random);
      Floats to(rows * columns);
      transpose({from.data(), rows, columns, columns + 2}, to);
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < columns; ++j) {
          ASSERT_EQ(to[j * rows + i], from[i * (columns + 2) + j]);
        }
      }
    }
  }
}

// Orthonormal rows, by Gram and Schmidt in double precision.
std::vector<std::vector<double>> orthonormal(size_t count, size_t length, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> rows;
  while (rows.size() < count) {
    std::vector<double> row(length);
    for (double& value : row) value = normal(random);
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<double>& other : rows) {
        const double along = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
        for (size_t i = 0; i < length; ++i) row[i] -= along * other[i];
      }
    }
    const double norm = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    for (double& value : row) value /= norm;
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Known {
  MatrixShape shape;
  std::vector<double> sigma;
  std::vector<std::vector<double>> u;
  std::vector<std::vector<double>> v;
  Floats matrix;
};

Known known_matrix(MatrixShape shape, const std::vector<double>& sigma, std::mt19937_64& random) {
  Known known = {shape,
                 sigma,
                 orthonormal(sigma.size(), shape.rows, random),
                 orthonormal(sigma.size(), shape.columns, random),
                 {}};
  for (size_t i = 0; i < shape.rows; ++i) {
    for (size_t j = 0; j < shape.columns; ++j) {
      double sum = 0;
      for (size_t k = 0; k < sigma.size(); ++k) sum += sigma[k] * known.u[k][i] * known.v[k][j];
      known.matrix.push_back(static_cast<float>(sum));
    }
  }
  return known;
}

double dot(const float* a, const float* b, size_t size) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void check_orthonormal(const Floats& rows, size_t count, size_t length) {
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = 0; b <= a; ++b) {
      ASSERT_NEAR(dot(&rows[a * length], &rows[b * length], length), a == b ? 1 : 0, 1e-4)
          << a << " " << b;
    }
  }
}

// Wide, tall, with the range finder and without.
TEST(SingularComponents, AreThoseOfAKnownMatrix) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(2);
  std::vector<double> sigma;
  for (int k = 0; k < 30; ++k) sigma.push_back(std::pow(0.7, k));
  for (const MatrixShape shape : {MatrixShape{60, 90}, {90, 60}, {30, 200}, {200, 31}}) {
    const Known known = known_matrix(shape, sigma, random);
    for (const uint64_t rank : {1, 6, 12}) {
      const uint64_t seed = random();
      const SingularComponents found = singular_components(known.matrix, shape, rank, seed, &pool);
      ASSERT_EQ(found.count(), rank);
      check_orthonormal(found.u, rank, shape.rows);
      check_orthonormal(found.v, rank, shape.columns);
      for (size_t k = 0; k < rank; ++k) {
        EXPECT_NEAR(found.sigma[k] / sigma[k], 1, 1e-3) << shape.rows << " " << k;
        double u = 0;
        double v = 0;
        for (size_t i = 0; i < shape.rows; ++i) u += found.u[k * shape.rows + i] * known.u[k][i];
        for (size_t j = 0; j < shape.columns; ++j) {
          v += found.v[k * shape.columns + j] * known.v[k][j];
        }
        EXPECT_NEAR(u * v, 1, 1e-2) << shape.rows << " " << k;
      }
      const SingularComponents again = singular_components(known.matrix, shape, rank, seed);
      EXPECT_EQ(found.sigma, again.sigma);
      EXPECT_EQ(found.u, again.u);
      EXPECT_EQ(found.v, again.v);
    }
  }
}

// Noise has no fast decay: the hardest case of the range finder.
TEST(SingularComponents, OfNoiseAreNearTheBest) {
  std::mt19937_64 random(test_seed());
  const MatrixShape shape = {150, 200};
  const Floats matrix = random_floats(shape.rows * shape.columns, random);
  constexpr uint64_t kRank = 20;
  const SingularComponents all = singular_components(matrix, shape, shape.rows, 1);  // no range
  const SingularComponents some = singular_components(matrix, shape, kRank, random());
  ASSERT_EQ(all.count(), shape.rows);
  double best = 0;
  double found = 0;
  double whole = 0;
  for (size_t k = 0; k < all.count(); ++k) {
    const double energy = static_cast<double>(all.sigma[k]) * all.sigma[k];
    whole += energy;
    if (k < kRank) best += energy;
  }
  for (const float sigma : some.sigma) found += static_cast<double>(sigma) * sigma;
  EXPECT_NEAR(whole / dot(matrix.data(), matrix.data(), matrix.size()), 1, 1e-5);
  EXPECT_GT(found / best, 0.9);
  EXPECT_LT(found / best, 1.00001);
}

TEST(SingularComponents, FewerWhereTheRankIsLower) {
  std::mt19937_64 random(test_seed());
  const Known known = known_matrix({80, 100}, {3, 2, 1}, random);
  EXPECT_EQ(singular_components(known.matrix, known.shape, 40, random()).count(), 3u);
  const Floats zeros(80 * 100);
  EXPECT_EQ(singular_components(zeros, known.shape, 40, random()).count(), 0u);
  EXPECT_EQ(singular_components(zeros, {10, 800}, 40, random()).count(), 0u);
}

TEST(PayingRank, IsNeverMoreNumbersThanElements) {
  EXPECT_EQ(paying_rank({1, 1000}, 256), 0u);
  EXPECT_EQ(paying_rank({2, 2}, 256), 1u);
  EXPECT_EQ(paying_rank({8, 8}, 256), 4u);
  EXPECT_EQ(paying_rank({4096, 4096}, 256), 256u);
  EXPECT_EQ(paying_rank({4096, 4096}, 4000), 2048u);
}

}  // namespace
}  // namespace hoist::tensors
