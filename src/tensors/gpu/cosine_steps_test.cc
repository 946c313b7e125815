// What the kernels of cosine.cu run, on the host, thread after thread in any order, against sums in
// double precision.
#include "tensors/gpu/cosine_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "tensors/gpu/cosine_plan.h"
#include "tensors/transform/dealing.h"
#include "tensors/transform/spectral.h"

namespace hoist::tensors {
namespace {

constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();

struct LoadFloat {
  float operator()(const uint8_t* values, uint64_t index) const {
    float value;
    std::memcpy(&value, values + index * sizeof(value), sizeof(value));
    return value;
  }
};

struct StoreFloats {
  float* out;
  void operator()(uint32_t index, Complex value, bool both) const {
    out[index] = value.x;
    if (both) out[index + 1] = value.y;
  }
};

struct Shape2 {
  uint32_t rows;
  uint32_t columns;
};

// A matrix of coefficients as fragments hold it; some of them are missing.
class Dealt {
 public:
  Dealt(Shape2 shape, uint32_t fragments, uint64_t common, std::mt19937_64& random)
      : coefficients_(uint64_t{shape.rows} * shape.columns) {
    std::normal_distribution<float> gaussian;
    for (float& value : coefficients_) value = gaussian(random);
    const EssentialRegion region({shape.rows, shape.columns}, common);
    const Dealing dealing(fragments, random());
    const uint64_t groups = (coefficients_.size() - common) / fragments;
    for (uint32_t row = 0; row <= shape.rows; ++row) before_.push_back(region.before(row));
    for (uint64_t group = 0; group < groups; ++group) {
      shifts_.push_back(static_cast<uint8_t>(dealing.shift(group)));
    }
    fragments_.resize(fragments);
    const uint32_t there = static_cast<uint32_t>(random() % fragments);
    std::vector<float> items;
    for (uint32_t row = 0; row < shape.rows; ++row) {
      for (uint64_t k = 0; k < shape.columns; ++k) {
        float& value = coefficients_[uint64_t{row} * shape.columns + k];
        if (k < region.length(row)) {
          common_.push_back(value);
          continue;
        }
        const uint32_t number = dealing.fragment(items.size());
        items.push_back(value);
        if (is_missing(number, there)) value = 0;
      }
    }
    for (uint32_t number = 0; number < fragments; ++number) {
      if (is_missing(number, there)) continue;
      std::vector<float>& fragment = fragments_[number];
      fragment = common_;
      for (uint64_t group = 0; group < groups; ++group) {
        fragment.push_back(items[dealing.item(number, group)]);
      }
    }
    for (const std::vector<float>& fragment : fragments_) {
      pointers_.push_back(fragment.empty() ? nullptr
                                           : reinterpret_cast<const uint8_t*>(fragment.data()));
    }
    values_ = {pointers_.data(),       pointers_[there], shifts_.data(), groups, 0,
               common * sizeof(float), fragments,        DType::f32};
  }

  const std::vector<float>& coefficients() const { return coefficients_; }
  const DealtValues& values() const { return values_; }
  const uint64_t* before() const { return before_.data(); }

 private:
  static bool is_missing(uint32_t number, uint32_t there) {
    return number != there && number % 3 == 1;
  }

  std::vector<float> coefficients_;  // 0 where a fragment is missing
  std::vector<float> common_;
  std::vector<uint64_t> before_;
  std::vector<uint8_t> shifts_;
  std::vector<std::vector<float>> fragments_;
  std::vector<const uint8_t*> pointers_;
  DealtValues values_{};
};

// Threads in an order of their own each step: none may depend on another's.
template <uint32_t kSequences, typename Pass>
void run_blocks(const Pass& pass, uint32_t threads, std::mt19937_64* random) {
  std::vector<uint32_t> order(threads);
  std::iota(order.begin(), order.end(), 0);
  std::vector<Complex> shared(CosineBlock<kSequences>::bytes(pass.plan.length) / sizeof(Complex));
  for (uint32_t block = 0; block < pass.blocks(); ++block) {
    std::fill(shared.begin(), shared.end(), Complex{kUnwritten, kUnwritten});
    for (uint32_t step = 0; step < pass.steps(); ++step) {
      if (random != nullptr) std::shuffle(order.begin(), order.end(), *random);
      for (const uint32_t thread : order) {
        pass.run_step(step, block, thread, threads, shared.data());
      }
    }
  }
}

std::vector<uint64_t> tables_of(const CosinePlan& plan) {
  std::vector<uint64_t> memory(CosineTables::bytes(plan.length) / sizeof(uint64_t));
  for (uint32_t k = 0; k < plan.length; ++k) fill_cosine_tables(plan, k, memory.data());
  return memory;
}

template <uint32_t kSequences>
std::vector<float> invert(const Dealt& dealt, Shape2 shape, uint32_t threads,
                          std::mt19937_64* random) {
  const CosinePlan of_rows = cosine_plan(shape.columns).value();
  const CosinePlan of_columns = cosine_plan(shape.rows).value();
  const std::vector<uint64_t> row_tables = tables_of(of_rows);
  const std::vector<uint64_t> column_tables = tables_of(of_columns);
  // As complex numbers for their alignment.
  std::vector<Complex> between(panel_values(shape.rows, shape.columns) / 2,
                               {kUnwritten, kUnwritten});
  auto* const floats = reinterpret_cast<float*>(between.data());
  const CosineRows<LoadFloat> rows{dealt.values(),    dealt.before(), of_rows,
                                   row_tables.data(), shape.rows,     floats};
  run_blocks<1>(rows, threads, random);
  std::vector<float> out(uint64_t{shape.rows} * shape.columns, kUnwritten);
  const CosineColumns<kSequences, StoreFloats> columns{
      floats, of_columns, column_tables.data(), shape.columns, {out.data()}};
  run_blocks<kSequences>(columns, threads, random);
  return out;
}

// Inverts each of `count` sequences, whose values are `step` apart.
void invert_slowly(std::vector<double>& values, size_t length, size_t step, size_t count,
                   size_t distance) {
  std::vector<double> cosines(4 * length);
  for (size_t i = 0; i < cosines.size(); ++i) {
    cosines[i] =
        std::cos(std::numbers::pi * static_cast<double>(i) / (2.0 * static_cast<double>(length)));
  }
  std::vector<double> result(length);
  for (size_t sequence = 0; sequence < count; ++sequence) {
    double* const from = values.data() + sequence * distance;
    for (size_t i = 0; i < length; ++i) {
      double sum = from[0] * std::sqrt(0.5);
      size_t turn = 0;
      for (size_t k = 1; k < length; ++k) {
        turn += 2 * i + 1;
        if (turn >= cosines.size()) turn -= cosines.size();
        sum += from[k * step] * cosines[turn];
      }
      result[i] = sum * std::sqrt(2.0 / static_cast<double>(length));
    }
    for (size_t i = 0; i < length; ++i) from[i * step] = result[i];
  }
}

// Relative to the norm.
double error_of(const std::vector<float>& actual, const Dealt& dealt, Shape2 shape) {
  std::vector<double> expected(dealt.coefficients().begin(), dealt.coefficients().end());
  invert_slowly(expected, shape.columns, 1, shape.rows, shape.columns);
  invert_slowly(expected, shape.rows, shape.columns, shape.columns, 1);
  double error = 0;
  double energy = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    error += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    energy += expected[i] * expected[i];
  }
  return std::sqrt(error / energy);
}

class CosineStepsTest : public testing::Test {
 protected:
  void expect_inverse(Shape2 shape, uint32_t fragments) {
    const uint64_t elements = uint64_t{shape.rows} * shape.columns;
    const uint64_t common =
        essential_count(elements, static_cast<double>(random_() % 5) / 8, fragments);
    const Dealt dealt(shape, fragments, common, random_);
    const uint32_t threads = 32 * static_cast<uint32_t>(1 + random_() % 32);
    const std::string what = std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                             ", " + std::to_string(fragments) + " fragments, " +
                             std::to_string(threads) + " threads";
    const std::vector<float> two = invert<2>(dealt, shape, threads, &random_);
    const double error = error_of(two, dealt, shape);
    ASSERT_LT(error, 5e-7) << what;  // false of what is not a number
    worst_ = std::max(worst_, error);
    // The same sums in the same order, whatever the threads do.
    ASSERT_EQ(two, invert<2>(dealt, shape, 64, nullptr)) << what;
    if (shape.rows > kMaxCosineLength / 2) return;
    ASSERT_EQ(two, invert<4>(dealt, shape, threads, &random_)) << what;
  }

  std::mt19937_64 random_{test_seed()};
  double worst_ = 0;
};

TEST_F(CosineStepsTest, LengthsThatHaveAPlan) {
  EXPECT_FALSE(cosine_plan(0));
  EXPECT_FALSE(cosine_plan(11));
  EXPECT_FALSE(cosine_plan(7 * 13));
  EXPECT_FALSE(cosine_plan(16384));
  for (uint64_t length = 1; length <= kMaxCosineLength; ++length) {
    const auto plan = cosine_plan(length);
    if (!plan) continue;
    uint64_t product = 1;
    for (uint32_t s = plan->stages; s-- > 0;) {
      const CosineStage stage = plan->stage[s];
      ASSERT_EQ(stage.stride, product) << length;
      product *= stage.radix;
      // Divisions of what threads divide: numbers of butterflies.
      for (uint64_t u = 0; stage.stride > 1 && u < length / stage.radix; ++u) {
        ASSERT_EQ(u * stage.reciprocal >> 32, u / stage.stride) << length;
      }
    }
    ASSERT_EQ(product, length);
  }
}

TEST_F(CosineStepsTest, PlacesAreAllDifferent) {
  const auto expect_permutation = [](auto place) {
    std::vector<bool> taken(kMaxCosineLength);
    for (uint32_t i = 0; i < kMaxCosineLength; ++i) {
      ASSERT_LT(place(i), kMaxCosineLength);
      ASSERT_FALSE(taken[place(i)]);
      taken[place(i)] = true;
      ASSERT_EQ(place(i) / 16, i / 16);
    }
  };
  expect_permutation(CosineBlock<1>::place);
  expect_permutation(CosineBlock<2>::place);
  expect_permutation(CosineBlock<4>::place);
}

TEST_F(CosineStepsTest, SmallMatrices) {
  for (uint32_t rows = 1; rows <= 64; ++rows) {
    if (!cosine_plan(rows)) continue;
    for (uint32_t columns = 1 + rows % 3; columns <= 64; columns += 3) {
      if (!cosine_plan(columns)) continue;
      expect_inverse({rows, columns}, static_cast<uint32_t>(1 + random_() % 9));
    }
  }
}

TEST_F(CosineStepsTest, LargerMatrices) {
  for (const Shape2 shape : {Shape2{512, 128},
                             {105, 630},
                             {343, 81},
                             {1, 4096},
                             {4096, 3},
                             {2, 14336},
                             {14336, 1},
                             {13122, 2},
                             {4, 6561},
                             {7168, 5}}) {
    expect_inverse(shape, 8);
  }
  expect_inverse({60, 70}, 255);
  RecordProperty("worst_error_e9", static_cast<int>(worst_ * 1e9));
}

}  // namespace
}  // namespace hoist::tensors
