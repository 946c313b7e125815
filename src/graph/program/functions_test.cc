// The functions of every instruction set against double precision, within the bounds of steps.h.
#include <gtest/gtest.h>

#include <functional>

#include "graph/ops/testing.h"
#include "graph/program/steps.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

constexpr double kLeast = 1.5e-45;

class FunctionsTest : public ::testing::TestWithParam<const StepTable*> {
 protected:
  std::vector<float> results(Op op, const std::vector<float>& a) {
    std::vector<float> out(a.size());
    GetParam()->step(op, 0)(a.data(), nullptr, nullptr, out.data(), a.size());
    return out;
  }

  void check(Op op, const std::function<double(double)>& exact, double units, double least) {
    std::vector<float> all;
    for (float x = -110.0f; x < 110.0f; x += 0.0037f) all.push_back(x);
    for (double x = 1e-44; x < 3e38; x *= 1.03) {
      all.push_back(static_cast<float>(x));
      all.push_back(static_cast<float>(-x));
    }
    check_values(op, exact, all, units, least);
  }

  void check_values(Op op, const std::function<double(double)>& exact,
                    const std::vector<float>& all, double units, double least) {
    const std::vector<float> found = results(op, all);
    for (size_t i = 0; i < all.size(); ++i) {
      const double expected = exact(double{all[i]});
      const auto rounded = static_cast<float>(expected);
      if (std::isnan(expected) || std::isinf(rounded)) {
        ASSERT_TRUE(same_float(found[i], rounded))
            << properties(op).name << " of " << all[i] << " gives " << found[i];
        continue;
      }
      ASSERT_LE(std::fabs(found[i] - expected), units * kUnit * std::fabs(expected) + least)
          << properties(op).name << " of " << all[i] << " gives " << found[i] << " instead of "
          << expected;
    }
  }
};

TEST_P(FunctionsTest, FunctionsAreWithinTheirBounds) {
  check(
      Op::exp, [](double x) { return std::exp(x); }, 6, kLeast);
  check(
      Op::log, [](double x) { return std::log(x); }, 6, kLeast);
  check(
      Op::erf, [](double x) { return std::erf(x); }, 6, kLeast);
  check(
      Op::tanh, [](double x) { return std::tanh(x); }, 6, kLeast);
  check(
      Op::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 6, 1.2e-38);
  check(
      Op::sqrt, [](double x) { return std::sqrt(x); }, 1, kLeast);
  check(
      Op::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 3, kLeast);
}

TEST_P(FunctionsTest, ExponentialFunctionsAndLogarithmsAreWithinTheirBounds) {
  check(
      Op::exp2, [](double x) { return std::exp2(x); }, 6, kLeast);
  check(
      Op::expm1, [](double x) { return std::expm1(x); }, 6, kLeast);
  check(
      Op::log1p, [](double x) { return std::log1p(x); }, 6, kLeast);
  check(
      Op::log2, [](double x) { return std::log2(x); }, 6, kLeast);
  check(
      Op::log10, [](double x) { return std::log10(x); }, 1.01, kLeast);
  for (int n = -149; n < 128; ++n) {
    const auto power = static_cast<float>(std::ldexp(1.0, n));
    EXPECT_TRUE(same_values(results(Op::log2, {power}), {static_cast<float>(n)})) << n;
    EXPECT_TRUE(same_values(results(Op::exp2, {static_cast<float>(n)}), {power})) << n;
  }
  for (int n = -37; n < 39; ++n) {
    const auto power = static_cast<float>(std::pow(10.0, n));
    EXPECT_TRUE(same_values(results(Op::log10, {power}), {static_cast<float>(n)})) << n;
  }
}

// All exponents, and the floats next to multiples of pi / 2.
TEST_P(FunctionsTest, TrigonometricFunctionsAreWithinTheirBounds) {
  const std::pair<Op, double (*)(double)> functions[] = {
      {Op::sin, std::sin}, {Op::cos, std::cos}, {Op::tan, std::tan}};
  std::vector<float> angles;
  for (double n = 1; n < 2e7; n = n < 100000 ? n + 1 : n * 1.001 + 1) {
    const auto near = static_cast<float>(std::trunc(n) * 1.57079632679489661923);
    for (const float x : {std::nextafter(near, 0.0f), near, std::nextafter(near, kInfinity)}) {
      angles.insert(angles.end(), {x, -x});
    }
  }
  for (const auto& [op, exact] : functions) {
    check(op, exact, 6, kLeast);
    check_values(op, exact, angles, 6, kLeast);
  }
}

TEST_P(FunctionsTest, InverseAndHyperbolicFunctionsAreRoundedOnce) {
  const std::pair<Op, double (*)(double)> functions[] = {
      {Op::asin, std::asin},   {Op::acos, std::acos},  {Op::atan, std::atan},
      {Op::sinh, std::sinh},   {Op::cosh, std::cosh},  {Op::asinh, std::asinh},
      {Op::acosh, std::acosh}, {Op::atanh, std::atanh}};
  std::vector<float> small;
  for (int i = -20000; i <= 20000; ++i) small.push_back(static_cast<float>(i) / 20000.0f);
  for (const auto& [op, exact] : functions) {
    check(op, exact, 1.01, kLeast);
    check_values(op, exact, small, 1.01, kLeast);
    check_values(op, exact, special_floats(), 1.01, kLeast);
  }
}

TEST_P(FunctionsTest, WholeNumbersAreThoseOfLibm) {
  const std::pair<Op, float (*)(float)> functions[] = {{Op::floor, std::floor},
                                                       {Op::ceil, std::ceil},
                                                       {Op::trunc, std::trunc},
                                                       {Op::round, std::nearbyint}};
  std::vector<float> given = special_floats();
  for (float x = -40.0f; x <= 40.0f; x += 0.25f) given.push_back(x);
  for (const float x : {0.49999997f, 8388607.5f, 8388608.0f, 16777217.0f, 2147483648.0f, 3e38f}) {
    given.insert(given.end(), {x, -x});
  }
  for (const auto& [op, exact] : functions) {
    std::vector<float> expected;
    for (const float x : given) expected.push_back(exact(x));
    EXPECT_TRUE(same_values(results(op, given), expected)) << properties(op).name;
  }
  EXPECT_TRUE(same_values(results(Op::sign, {kNan, kInfinity, -kInfinity, 0.0f, -0.0f, 1e-45f, -3}),
                          {kNan, 1.0f, -1.0f, 0.0f, 0.0f, 1.0f, -1.0f}));
}

TEST_P(FunctionsTest, AnglesAndLengthsOfTwo) {
  Random random;
  std::vector<float> a = special_floats();
  for (int i = 0; i < 3000; ++i) a.push_back(random.hostile(1)[0]);
  for (const float x : a) {
    for (const float y : special_floats()) {
      float found = 0;
      GetParam()->step(Op::hypot, 0)(&x, &y, nullptr, &found, 1);
      const auto exact = static_cast<float>(std::hypot(double{x}, double{y}));
      if (std::isfinite(exact)) {
        ASSERT_LE(std::fabs(found - std::hypot(double{x}, double{y})),
                  1.01 * kUnit * std::fabs(exact) + kLeast)
            << x << ", " << y;
      } else {
        ASSERT_TRUE(same_float(found, exact)) << x << ", " << y;
      }
      GetParam()->step(Op::atan2, 0)(&x, &y, nullptr, &found, 1);
      ASSERT_TRUE(same_float(found, std::atan2(x, y))) << x << ", " << y;
      GetParam()->step(Op::copysign, 0)(&x, &y, nullptr, &found, 1);
      ASSERT_TRUE(same_float(found, std::copysign(x, y))) << x << ", " << y;
    }
  }
}

TEST_P(FunctionsTest, SpecialValuesOfFunctions) {
  const std::vector<float> given = {kNan, kInfinity, -kInfinity, 0.0f, -0.0f};
  EXPECT_TRUE(same_values(results(Op::exp, given), {kNan, kInfinity, 0.0f, 1.0f, 1.0f}));
  EXPECT_TRUE(
      same_values(results(Op::log, given), {kNan, kInfinity, kNan, -kInfinity, -kInfinity}));
  EXPECT_TRUE(same_values(results(Op::erf, given), {kNan, 1.0f, -1.0f, 0.0f, -0.0f}));
  EXPECT_TRUE(same_values(results(Op::rsqrt, given), {kNan, 0.0f, kNan, kInfinity, -kInfinity}));
  EXPECT_TRUE(same_values(results(Op::relu, given), {kNan, kInfinity, 0.0f, 0.0f, -0.0f}));
  EXPECT_TRUE(same_values(results(Op::to_bool, given), {1.0f, 1.0f, 1.0f, 0.0f, 0.0f}));
}

INSTANTIATE_TEST_SUITE_P(All, FunctionsTest, ::testing::ValuesIn(runnable_steps()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph::program
