// The oracle evaluates the definition in double precision; errors are fractions of a norm.
#include "codec/dct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "base/test_seed.h"

namespace hoist::codec {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr double kBound = 1e-6;  // stated in dct.h

double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double slow_coefficient(std::span<const float> x, size_t k) {
  const double n = static_cast<double>(x.size());
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    // (2i + 1) k modulo the period, so that the angle stays exact.
    const size_t phase = (2 * i + 1) * k % (4 * x.size());
    sum += x[i] * std::cos(std::numbers::pi * static_cast<double>(phase) / (2 * n));
  }
  return sum * std::sqrt((k == 0 ? 1.0 : 2.0) / n);
}

Doubles slow_dct(std::span<const float> x) {
  Doubles coefficients(x.size());
  for (size_t k = 0; k < x.size(); ++k) coefficients[k] = slow_coefficient(x, k);
  return coefficients;
}

double relative_error(std::span<const float> values, std::span<const double> expected) {
  Doubles difference(values.size());
  for (size_t i = 0; i < values.size(); ++i) difference[i] = values[i] - expected[i];
  const double size = norm(expected);
  return size == 0 ? norm(difference) : norm(difference) / size;
}

Doubles to_doubles(std::span<const float> values) { return {values.begin(), values.end()}; }

class DctTest : public ::testing::Test {
 protected:
  Floats random_floats(size_t size, float scale = 1) {
    std::normal_distribution<float> normal(0, scale);
    Floats values(size);
    for (float& value : values) value = normal(random_);
    return values;
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(DctTest, MatchesTheOracleAndComesBack) {
  std::vector<size_t> lengths(70);
  std::generate(lengths.begin(), lengths.end(), [n = size_t{1}]() mutable { return n++; });
  // Powers of two, small factors, prime factors on both sides of the change to Bluestein, primes.
  for (const size_t n : {121, 128, 134, 243, 256, 360, 521, 1000, 1023, 1024}) lengths.push_back(n);
  for (const size_t n : lengths) {
    const Dct dct = *Dct::create(n);
    for (const size_t count : {1, 2, 3}) {
      const Floats x = random_floats(n * count);
      Floats values = x;
      ASSERT_TRUE(dct.forward(values));
      for (size_t i = 0; i < count; ++i) {
        const Doubles expected = slow_dct(std::span(x).subspan(i * n, n));
        EXPECT_LT(relative_error(std::span(values).subspan(i * n, n), expected), kBound) << n;
      }
      ASSERT_TRUE(dct.inverse(values));
      EXPECT_LT(relative_error(values, to_doubles(x)), 2 * kBound) << n;
    }
  }
}

// The inverse by itself: a unit vector becomes a row of the matrix.
TEST_F(DctTest, InverseIsTheTranspose) {
  for (const size_t n : {1, 2, 5, 16, 67, 100}) {
    const Dct dct = *Dct::create(n);
    for (size_t k = 0; k < n; ++k) {
      Floats values(n, 0.0f);
      values[k] = 1;
      ASSERT_TRUE(dct.inverse(values));
      for (size_t i = 0; i < n; ++i) {
        const double expected = std::sqrt((k == 0 ? 1.0 : 2.0) / n) *
                                std::cos(std::numbers::pi * (2 * i + 1) * k / (2.0 * n));
        EXPECT_NEAR(values[i], expected, 1e-6) << n << ", " << k;
      }
    }
  }
}

TEST_F(DctTest, LongLengths) {
  for (const size_t n : {8192, 65'536, 65'537, 99'991, 122'922, 1'000'000}) {
    const Dct dct = *Dct::create(n);
    const Floats x = random_floats(n);
    Floats values = x;
    ASSERT_TRUE(dct.forward(values));
    EXPECT_NEAR(norm(to_doubles(values)) / norm(to_doubles(x)), 1, kBound) << n;
    // A sample of coefficients estimates the norm of the error.
    double squares = 0;
    constexpr size_t kSamples = 40;
    for (size_t i = 0; i < kSamples; ++i) {
      const size_t k = i < 2 ? i * (n - 1) : random_() % n;
      const double error = values[k] - slow_coefficient(x, k);
      squares += error * error;
    }
    EXPECT_LT(std::sqrt(squares / kSamples * static_cast<double>(n)) / norm(to_doubles(x)), kBound)
        << n;
    ASSERT_TRUE(dct.inverse(values));
    EXPECT_LT(relative_error(values, to_doubles(x)), 2 * kBound) << n;
  }
}

TEST_F(DctTest, NeighboursOfAnySizeDoNoHarm) {
  for (const size_t n : {64, 67}) {
    const Dct dct = *Dct::create(n);
    for (const auto& [first, second] : {std::pair{1e-20f, 1e15f}, {1e15f, 1e-20f}, {0.0f, 1.0f}}) {
      Floats values = random_floats(n, first);
      const Floats b = random_floats(n, second);
      values.insert(values.end(), b.begin(), b.end());
      const Floats x = values;
      ASSERT_TRUE(dct.forward(values));
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_LT(relative_error(std::span(values).subspan(i * n, n),
                                 slow_dct(std::span(x).subspan(i * n, n))),
                  kBound);
      }
      ASSERT_TRUE(dct.inverse(values));
      for (size_t i = 0; i < 2; ++i) {
        EXPECT_LT(relative_error(std::span(values).subspan(i * n, n),
                                 to_doubles(std::span(x).subspan(i * n, n))),
                  2 * kBound);
      }
    }
    Floats values = random_floats(2 * n);
    const Doubles expected = slow_dct(std::span(values).subspan(n));
    values[3] = std::numeric_limits<float>::infinity();
    values[4] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_TRUE(dct.forward(values));
    EXPECT_FALSE(std::isfinite(values[0]));
    EXPECT_LT(relative_error(std::span(values).subspan(n), expected), kBound);
  }
}

// The largest floats would overflow and the smallest lose bits on the way.
TEST_F(DctTest, ValuesOfAnySizeAreExact) {
  for (const size_t n : {64, 67, 1024}) {
    const Dct dct = *Dct::create(n);
    // What the smallest floats cannot hold of the results.
    const double rounding = std::sqrt(static_cast<double>(n)) * 0x1p-150;
    for (const float size : {1e-44f, 1e-30f, 1e-7f, 1e30f, 1e37f}) {
      for (const float beside : {0.0f, 1.0f, 1e-44f, 1e37f}) {
        Floats values = random_floats(n, size);
        const Floats b = random_floats(n, beside);
        values.insert(values.end(), b.begin(), b.end());
        const Floats x = values;
        ASSERT_TRUE(dct.forward(values));
        for (const size_t first : {size_t{0}, n}) {
          Doubles error = slow_dct(std::span(x).subspan(first, n));
          const double bound = kBound * norm(error) + rounding;
          for (size_t k = 0; k < n; ++k) error[k] -= values[first + k];
          EXPECT_LE(norm(error), bound) << n << ": " << size << " beside " << beside;
        }
        ASSERT_TRUE(dct.inverse(values));
        for (const float value : values) ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
}

// All coefficients of a spike are much smaller than it is.
TEST_F(DctTest, SpikesAreExactBesideAnything) {
  constexpr size_t kLength = 4096;
  const Dct dct = *Dct::create(kLength);
  Floats spike(kLength, 0.0f);
  spike[5] = 0x1p-20f;
  const Doubles expected = slow_dct(spike);
  for (const float beside : {0.0f, 0x1p-20f, 1.0f}) {
    Floats values(kLength, beside);
    values.insert(values.end(), spike.begin(), spike.end());
    ASSERT_TRUE(dct.forward(values));
    EXPECT_LT(relative_error(std::span(values).subspan(kLength), expected), kBound) << beside;
    if (beside == 0) {
      for (size_t k = 0; k < kLength; ++k) ASSERT_EQ(values[k], 0);
    }
    ASSERT_TRUE(dct.inverse(values));
    EXPECT_LT(relative_error(std::span(values).subspan(kLength), to_doubles(spike)), 2 * kBound);
  }
}

Doubles slow_dct_2d(const Floats& x, size_t rows, size_t columns) {
  const auto transform_lines = [](const Doubles& from, size_t lines, size_t length) {
    Doubles to(from.size());  // transposed
    for (size_t line = 0; line < lines; ++line) {
      for (size_t k = 0; k < length; ++k) {
        double sum = 0;
        for (size_t i = 0; i < length; ++i) {
          sum += from[line * length + i] *
                 std::cos(std::numbers::pi * static_cast<double>((2 * i + 1) * k) / (2.0 * length));
        }
        to[k * lines + line] = sum * std::sqrt((k == 0 ? 1.0 : 2.0) / length);
      }
    }
    return to;
  };
  return transform_lines(transform_lines(to_doubles(x), rows, columns), columns, rows);
}

TEST_F(DctTest, TwoDimensionsMatchTheOracleOnAnyPool) {
  ThreadPool pool(3);
  for (const auto& [rows, columns] :
       {std::pair<size_t, size_t>{1, 1}, {1, 40}, {40, 1}, {7, 33}, {64, 48}, {67, 16}, {33, 71}}) {
    const Dct2d dct = *Dct2d::create(rows, columns);
    const Floats x = random_floats(rows * columns);
    Floats values = x;
    ASSERT_TRUE(dct.forward(values));
    EXPECT_LT(relative_error(values, slow_dct_2d(x, rows, columns)), 2 * kBound)
        << rows << " x " << columns;
    Floats threaded = x;
    ASSERT_TRUE(dct.forward(threaded, &pool));
    EXPECT_EQ(threaded, values);
    ASSERT_TRUE(dct.inverse(values));
    EXPECT_LT(relative_error(values, to_doubles(x)), 4 * kBound);
    ASSERT_TRUE(dct.inverse(threaded, &pool));
    EXPECT_EQ(threaded, values);
  }
  // Several tasks of rows.
  const Dct2d dct = *Dct2d::create(301, 1000);
  const Floats x = random_floats(301 * 1000);
  Floats values = x;
  Floats threaded = x;
  ASSERT_TRUE(dct.forward(values));
  ASSERT_TRUE(dct.forward(threaded, &pool));
  EXPECT_EQ(threaded, values);
  ASSERT_TRUE(dct.inverse(values, &pool));
  EXPECT_LT(relative_error(values, to_doubles(x)), 4 * kBound);
}

TEST_F(DctTest, WrongSizesAreErrors) {
  for (const size_t length : {size_t{0}, Fft::kMaxLength + 1, SIZE_MAX}) {
    const Result<Dct> dct = Dct::create(length);
    ASSERT_FALSE(dct);
    EXPECT_EQ(dct.error().code, ErrorCode::invalid_argument);
    EXPECT_FALSE(Dct2d::create(4, length));
    EXPECT_FALSE(Dct2d::create(length, 4));
  }
  const Dct dct = *Dct::create(8);
  Floats values(12);
  EXPECT_EQ(dct.forward(values).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(dct.inverse(values).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(dct.forward({}));
  const Dct2d plane = *Dct2d::create(3, 5);
  EXPECT_EQ(plane.forward(values).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(plane.inverse(values).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::codec
