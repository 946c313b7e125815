// sigmoid, tanh, gelu and softmax against double precision, within the bounds of ops.h.
#include <gtest/gtest.h>

#include "graph/ops/kernels.h"
#include "graph/ops/testing.h"

namespace hoist::graph {
namespace {

using ops_detail::Kernels;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_tanh(double x) {
  return x * sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
}
double gelu_erf(double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }

// Dense where the functions change, and all sizes.
std::vector<float> arguments() {
  std::vector<float> all;
  for (float x = -92.0f; x < 92.0f; x += 0.0037f) all.push_back(x);
  for (float x = 1e-42f; x < 1e38f; x *= 1.03f) {
    all.push_back(x);
    all.push_back(-x);
  }
  return all;
}

class FunctionsTest : public ::testing::TestWithParam<const Kernels<float>*> {
 protected:
  std::vector<float> results(Unary operation, const std::vector<float>& arguments) {
    std::vector<float> results(arguments.size());
    GetParam()->unary[static_cast<size_t>(operation)](arguments.data(), results.data(),
                                                      arguments.size());
    return results;
  }

  // |found - exact| <= bound(x, exact)
  template <typename Exact, typename Bound>
  void check(Unary operation, const Exact& exact, const Bound& bound) {
    const std::vector<float> all = arguments();
    const std::vector<float> found = results(operation, all);
    for (size_t i = 0; i < all.size(); ++i) {
      const double expected = exact(double{all[i]});
      ASSERT_LE(std::fabs(found[i] - expected),
                bound(std::fabs(double{all[i]}), std::fabs(expected)))
          << all[i] << " gives " << found[i] << " instead of " << expected;
    }
  }
};

constexpr double kLeast = 1.2e-38;

TEST_P(FunctionsTest, SigmoidIsWithinItsBound) {
  check(Unary::sigmoid, sigmoid, [](double, double e) { return 6 * kUnit * e + kLeast; });
}

TEST_P(FunctionsTest, TanhIsWithinItsBound) {
  check(
      Unary::tanh, [](double x) { return std::tanh(x); },
      [](double, double e) { return 6 * kUnit * e + 1e-45; });
}

TEST_P(FunctionsTest, GeluByTanhIsWithinItsBound) {
  check(Unary::gelu_tanh, gelu_tanh, [](double x, double) { return 4 * kUnit * x + 1e-45; });
}

TEST_P(FunctionsTest, GeluByErfIsWithinItsBound) {
  check(Unary::gelu_erf, gelu_erf, [](double x, double) { return 4 * kUnit * x + 1e-45; });
}

TEST_P(FunctionsTest, SpecialValues) {
  for (const Unary operation : {Unary::sigmoid, Unary::tanh, Unary::gelu_tanh, Unary::gelu_erf}) {
    for (const float nan : {kNan, -kNan, std::bit_cast<float>(0x7fc001ffu)}) {
      EXPECT_TRUE(std::isnan(results(operation, {nan})[0])) << static_cast<int>(operation);
    }
  }
  EXPECT_EQ(results(Unary::sigmoid, {-kInfinity, kInfinity, 0.0f}),
            (std::vector{0.0f, 1.0f, 0.5f}));
  EXPECT_EQ(results(Unary::tanh, {-kInfinity, kInfinity, 0.0f}), (std::vector{-1.0f, 1.0f, 0.0f}));
  EXPECT_TRUE(std::signbit(results(Unary::tanh, {-0.0f})[0]));
  EXPECT_EQ(results(Unary::gelu_tanh, {kInfinity, 3e38f, -3e38f}),
            (std::vector{kInfinity, 3e38f, 0.0f}));
}

TEST_P(FunctionsTest, SoftmaxIsWithinItsBound) {
  Random random;
  for (const size_t n : lengths()) {
    const Guarded a(random.normal(n, 8.0f));
    const Guarded c(n);
    GetParam()->unary[static_cast<size_t>(Unary::softmax)](a.data(), c.data(), n);
    double sum = 0;
    double largest = -1e300;
    for (size_t i = 0; i < n; ++i) largest = std::max(largest, double{a[i]});
    for (size_t i = 0; i < n; ++i) sum += std::exp(a[i] - largest);
    for (size_t i = 0; i < n; ++i) {
      const double expected = std::exp(a[i] - largest) / sum;
      ASSERT_LE(std::fabs(c[i] - expected), (32 + largest - a[i]) * kUnit * expected + kLeast)
          << i << " of " << n;
    }
  }
}

TEST_P(FunctionsTest, SoftmaxOfSpecialValues) {
  EXPECT_EQ(results(Unary::softmax, {-kInfinity, 1.0f, 1.0f}), (std::vector{0.0f, 0.5f, 0.5f}));
  EXPECT_EQ(results(Unary::softmax, {1e30f, -1e30f}), (std::vector{1.0f, 0.0f}));
  for (const std::vector<float>& all :
       {std::vector{1.0f, kNan, 2.0f}, std::vector{kInfinity, 1.0f, kInfinity},
        std::vector{-kInfinity, -kInfinity}, std::vector<float>(40, kNan)}) {
    EXPECT_TRUE(std::isnan(results(Unary::softmax, all).back()) || all[0] == kInfinity);
    EXPECT_TRUE(std::isnan(results(Unary::softmax, all)[0]));
  }
  // Each call with its own maximum and sum.
  EXPECT_EQ(results(Unary::softmax, {5.0f, 5.0f}), (std::vector{0.5f, 0.5f}));
  EXPECT_EQ(results(Unary::softmax, {-5.0f, -5.0f}), (std::vector{0.5f, 0.5f}));
}

INSTANTIATE_TEST_SUITE_P(All, FunctionsTest, ::testing::ValuesIn(ops_detail::runnable_f32()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph
