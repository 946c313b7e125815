#include "tensors/transform/random_projection.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "tensors/transform/seeded_rng.h"

namespace hoist::tensors {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Floats random_floats(size_t size, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  Floats values(size);
  for (float& value : values) value = normal(random);
  return values;
}

// By the definition, in double precision.
Doubles slow_projection(const Floats& values, uint64_t seed) {
  const SeededRng rng(seed, streams::kSigns);
  Doubles result(values.size());
  for (size_t first = 0; first < values.size();) {
    const size_t block =
        std::min<size_t>(kMaxProjectionBlock, std::bit_floor(values.size() - first));
    for (size_t k = 0; k < block; ++k) {
      double sum = 0;
      for (size_t i = 0; i < block; ++i) {
        const bool negative = rng.sign(first + i) != (std::popcount(i & k) % 2 != 0);
        sum += negative ? -values[first + i] : values[first + i];
      }
      result[first + k] = sum / std::sqrt(static_cast<double>(block));
    }
    first += block;
  }
  return result;
}

TEST(RandomProjection, IsWhatItsDefinitionSays) {
  std::mt19937_64 random(test_seed());
  for (const size_t size : {1, 2, 3, 7, 13, 64, 127, 1000, 2049}) {
    const uint64_t seed = random();
    const Floats x = random_floats(size, random);
    Floats values = x;
    project(values, seed);
    const Doubles expected = slow_projection(x, seed);
    for (size_t i = 0; i < size; ++i) ASSERT_NEAR(values[i], expected[i], 1e-5) << size << " " << i;
  }
}

TEST(RandomProjection, ComesBackAndKeepsTheNormAroundTheLongestBlock) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(3);
  for (const size_t size : {kMaxProjectionBlock - 1, kMaxProjectionBlock, kMaxProjectionBlock + 1,
                            3 * kMaxProjectionBlock + 1234}) {
    const uint64_t seed = random();
    const Floats x = random_floats(size, random);
    Floats values = x;
    project(values, seed, &pool);
    Floats alone = x;
    project(alone, seed);
    EXPECT_EQ(values, alone);
    double before = 0;
    double after = 0;
    for (size_t i = 0; i < size; ++i) {
      before += static_cast<double>(x[i]) * x[i];
      after += static_cast<double>(values[i]) * values[i];
    }
    EXPECT_NEAR(after / before, 1, 1e-6);
    unproject(values, seed, &pool);
    for (size_t i = 0; i < size; ++i) ASSERT_NEAR(values[i], x[i], 1e-5);
  }
}

// Any element's energy is spread over all rows of its block alike.
TEST(RandomProjection, OneElementIsInEveryCoefficientAlike) {
  Floats values(kMaxProjectionBlock);
  values[4711] = 3;
  project(values, test_seed());
  const float magnitude = 3 / std::sqrt(static_cast<float>(kMaxProjectionBlock));
  for (const float value : values) ASSERT_FLOAT_EQ(std::abs(value), magnitude);
}

}  // namespace
}  // namespace hoist::tensors
