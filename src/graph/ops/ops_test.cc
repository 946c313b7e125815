#include "graph/ops/ops.h"

#include <gtest/gtest.h>

#include "graph/ops/testing.h"

namespace hoist::graph {
namespace {

using array::DType;
using array::View;

View view(std::vector<float>& values, std::initializer_list<uint64_t> shape) {
  return View::of(values.data(), DType::f32, std::vector<uint64_t>(shape)).value();
}

TEST(OpsTest, ViewsAreComputedWith) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6};
  std::vector<float> b = {6, 5, 4, 3, 2, 1};
  std::vector<float> c(6);
  ASSERT_TRUE(apply(Binary::add, view(a, {2, 3}), view(b, {2, 3}), view(c, {2, 3})));
  EXPECT_EQ(c, std::vector<float>(6, 7.0f));
  ASSERT_TRUE(apply(Unary::negative, view(a, {6}), view(c, {6})));
  EXPECT_EQ(c, (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  ASSERT_TRUE(apply(Scalar::multiply, view(a, {6}), 2.0, view(c, {6})));
  EXPECT_EQ(c[5], 12.0f);
  ASSERT_TRUE(clip(view(a, {6}), 2, 4, view(c, {6})));
  EXPECT_EQ(c, (std::vector<float>{2, 2, 3, 4, 4, 4}));
  EXPECT_EQ(sum(view(a, {2, 3})), 21.0);
  EXPECT_EQ(extreme(Extreme::maximum, view(a, {6})), 6.0);
}

TEST(OpsTest, WhatCannotBeDoneIsRefused) {
  std::vector<float> a(6);
  std::vector<double> doubles(6);
  const View f64 = View::of(doubles.data(), DType::f64, std::vector<uint64_t>{6}).value();
  const View ok = view(a, {6});
  EXPECT_EQ(apply(Unary::tanh, f64, f64).error().code, ErrorCode::unsupported);
  EXPECT_EQ(apply(Unary::tanh, ok, view(a, {2, 3})).error().code, ErrorCode::invalid_argument);
  const View gaps = view(a, {2, 3}).transposed(0, 1).value();
  EXPECT_EQ(apply(Unary::tanh, gaps, gaps).error().code, ErrorCode::unsupported);
  EXPECT_EQ(sum(gaps).error().code, ErrorCode::unsupported);
  View elsewhere = ok;
  elsewhere.device.kind = array::DeviceKind::cuda;
  EXPECT_EQ(apply(Unary::tanh, ok, elsewhere).error().code, ErrorCode::unsupported);
  EXPECT_EQ(extreme(Extreme::fmin, view(a, {0})).error().code, ErrorCode::invalid_argument);
}

// As if the inputs had been copied first.
TEST(OpsTest, OutputsMayOverlapInputs) {
  Random random;
  const size_t n = 100;
  for (const ptrdiff_t shift : {-33, -1, 0, 1, 16, 99}) {
    const std::vector<float> before = random.normal(n + 200);
    std::vector<float> both = before;
    float* const a = both.data() + 100;
    apply(Binary::multiply, a, a + 1, a + shift, n);
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(both[100 + static_cast<size_t>(shift) + i], before[100 + i] * before[101 + i])
          << shift;
    }
    both = before;
    apply(Unary::absolute, a, a + shift, n);
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(both[100 + static_cast<size_t>(shift) + i], std::fabs(before[100 + i])) << shift;
    }
  }
}

}  // namespace
}  // namespace hoist::graph
