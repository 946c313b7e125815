#include "codec/walsh.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "codec/walsh_kernels.h"

namespace hoist::codec {
namespace {

using Floats = std::vector<float>;

constexpr double kBound = 1e-6;  // stated in walsh.h

double slow_coefficient(std::span<const float> x, size_t k) {
  double sum = 0;
  for (size_t n = 0; n < x.size(); ++n) sum += std::popcount(k & n) % 2 == 0 ? x[n] : -x[n];
  return sum / std::sqrt(static_cast<double>(x.size()));
}

double norm(std::span<const float> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

class WalshTest : public ::testing::Test {
 protected:
  Floats random_floats(size_t size) {
    std::normal_distribution<float> normal;
    Floats values(size);
    for (float& value : values) value = normal(random_);
    return values;
  }

  // Up to 2^11 values all coefficients, above a sample, are compared.
  void check(const Floats& x, const Floats& values, const char* what) {
    const size_t step = std::max<size_t>(1, x.size() >> 6 & ~size_t{31});
    double squares = 0;
    size_t samples = 0;
    for (size_t k = 0; k < x.size(); k += step, ++samples) {
      const size_t at = step == 1 ? k : k + random_() % step;
      const double error = values[at] - slow_coefficient(x, at);
      squares += error * error;
    }
    const double error =
        std::sqrt(squares / static_cast<double>(samples) * static_cast<double>(x.size()));
    EXPECT_LT(error / norm(x), kBound) << what << ", " << x.size();
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(WalshTest, MatchesTheOracleAndComesBack) {
  for (int level = 0; level <= 20; ++level) {
    const Floats x = random_floats(size_t{1} << level);
    Floats values = x;
    ASSERT_TRUE(walsh_hadamard(values));
    check(x, values, "best");
    ASSERT_TRUE(walsh_hadamard(values));
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(values[i], x[i], 4e-6) << x.size();
  }
}

TEST_F(WalshTest, EveryKernelMatchesTheOracle) {
  for (const walsh_detail::Kernel& kernel : walsh_detail::kernels()) {
    for (size_t length = kernel.min_length; length <= 4096; length *= 2) {
      // At an address that is aligned for a float only.
      const Floats x = random_floats(length);
      Floats values(length + 1);
      std::copy(x.begin(), x.end(), values.begin() + 1);
      kernel.run(values.data() + 1, length,
                 static_cast<float>(1 / std::sqrt(static_cast<double>(length))));
      check(x, Floats(values.begin() + 1, values.end()), kernel.name);
    }
  }
}

TEST_F(WalshTest, OtherLengthsAreErrors) {
  for (const size_t length : {0, 3, 12, 1000}) {
    Floats values(length);
    EXPECT_EQ(walsh_hadamard(values).error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace hoist::codec
