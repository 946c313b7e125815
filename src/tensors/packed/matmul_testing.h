// A product of a packed matrix for tests, with its result in double precision.
#pragma once

#include <algorithm>

#include "array/convert.h"
#include "tensors/packed/matmul.h"
#include "tensors/packed/testing.h"

namespace hoist::tensors::packed {

class TestProduct {
 public:
  // `count` rows of x; infinities and NaNs among them from 3 rows on. A bias for odd activations.
  TestProduct(const TestMatrix& matrix, uint64_t count, uint32_t activation,
              std::mt19937_64& random)
      : matrix_(matrix), count_(count), activation_(static_cast<Activation>(activation)) {
    x_ = gaussian(count * matrix.columns, random, 1);
    bias_ = gaussian(matrix.rows, random, 1);
    if (count >= 3 && matrix.columns != 0) {
      x_[matrix.columns + random() % matrix.columns] = 0x7f80;
      x_[2 * matrix.columns + random() % matrix.columns] = 0xffc0;
    }
  }

  std::string name() const {
    return matrix_.name + ", " + std::to_string(count_) + " rows, activation " +
           std::to_string(static_cast<int>(activation_));
  }
  const std::vector<uint16_t>& x() const { return x_; }
  const std::vector<uint16_t>& bias() const { return bias_; }
  bool has_bias() const { return static_cast<uint32_t>(activation_) % 2 == 1; }
  Activation activation() const { return activation_; }
  uint64_t count() const { return count_; }

  std::vector<uint16_t> result() const { return std::vector<uint16_t>(count_ * matrix_.rows); }
  Operands operands(std::vector<uint16_t>& y) const {
    return {x_.data(),  count_,       matrix_.columns,
            y.data(),   matrix_.rows, has_bias() ? bias_.data() : nullptr,
            activation_};
  }

  // `rounding`: of results, relative.
  void check(const std::vector<uint16_t>& y, double rounding = 4e-3) const {
    for (uint64_t i = 0; i < count_; ++i) {
      for (uint32_t row = 0; row < matrix_.rows; ++row) {
        check_one(i, row, array::bf16_to_f32(y[i * matrix_.rows + row]), rounding);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

 private:
  void check_one(uint64_t i, uint32_t row, float got, double rounding) const {
    double sum = 0;
    double size = 0;  // of the finite terms: what rounding errors go by
    for (uint32_t k = 0; k < matrix_.columns; ++k) {
      const double term =
          double{array::bf16_to_f32(matrix_.weights[uint64_t{row} * matrix_.columns + k])} *
          double{array::bf16_to_f32(x_[i * matrix_.columns + k])};
      sum += term;
      if (std::isfinite(term)) size += std::abs(term);
    }
    const double bias = has_bias() ? double{array::bf16_to_f32(bias_[row])} : 0;
    sum += bias;
    const double wanted = activated(sum);
    // Sums that come near the largest f32 may overflow on their way in one order only.
    if (size > 1e38) return;
    if (!std::isfinite(wanted) || !std::isfinite(sum)) {
      ASSERT_EQ(std::isnan(got), std::isnan(wanted)) << i << ", " << row << ": " << got;
      if (!std::isnan(wanted)) {
        ASSERT_EQ(double{got}, wanted) << i << ", " << row;
      }
      return;
    }
    const double allowed = 1e-5 * size +
                           rounding * std::max({std::abs(wanted), std::abs(sum), std::abs(bias)}) +
                           1e-38;
    ASSERT_NEAR(double{got}, wanted, allowed) << i << ", " << row;
  }

  double activated(double x) const {
    switch (activation_) {
      case Activation::relu:
        return x < 0 ? 0 : x;
      case Activation::gelu:
        return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
      case Activation::gelu_tanh:
        return 0.5 * x * (1 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x)));
      case Activation::silu:
        return x / (1 + std::exp(-x));
      default:
        return x;
    }
  }

  const TestMatrix& matrix_;
  uint64_t count_;
  Activation activation_;
  std::vector<uint16_t> x_;
  std::vector<uint16_t> bias_;
};

}  // namespace hoist::tensors::packed
