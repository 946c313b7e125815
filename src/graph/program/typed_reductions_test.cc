// Reductions of f64 and integers, of every instruction set: against plain loops, and by columns as
// by rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/program/testing.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {
namespace {

class TypedReductionsTest : public ::testing::TestWithParam<const TypedSteps*> {
 protected:
  Values values(DType dtype, size_t n) {
    Node node;
    node.dtype = dtype;
    node.shape = {static_cast<int64_t>(n)};
    return random_.values(node, true);
  }

  RandomValues random_{test_seed()};
};

TEST_P(TypedReductionsTest, SumsAndExtremes) {
  for (const size_t n : {1, 2, 63, 64, 65, 1000, 1024, 1025, 5000}) {
    const Values x = values(DType::f64, n);
    const Values k = values(DType::i64, n);
    std::vector<double> ordinary(n);
    long double exact = 0;
    for (size_t i = 0; i < n; ++i) exact += ordinary[i] = 0.1 * static_cast<double>(i % 17);
    EXPECT_NEAR(GetParam()->sum_f64(ordinary.data(), n), static_cast<double>(exact), 1e-14 * 800);
    EXPECT_TRUE(same_number(GetParam()->sum_f64(x.f64().data(), n),
                            typed_steps().sum_f64(x.f64().data(), n)));
    uint64_t sum = 0;
    double low = x.f64()[0];
    int64_t high = k.i64()[0];
    uint64_t high_word = static_cast<uint64_t>(high);
    for (size_t i = 0; i < n; ++i) {
      sum += static_cast<uint64_t>(k.i64()[i]);
      low = minimum_of(low, x.f64()[i]);
      high = std::max(high, k.i64()[i]);
      high_word = std::max(high_word, static_cast<uint64_t>(k.i64()[i]));
    }
    EXPECT_EQ(static_cast<uint64_t>(GetParam()->sum_i64(k.i64().data(), n)), sum);
    EXPECT_TRUE(same_number(GetParam()->extreme_f64[0](x.f64().data(), n), low));
    EXPECT_EQ(GetParam()->extreme_i64[1](k.i64().data(), n), high);
    EXPECT_EQ(static_cast<uint64_t>(GetParam()->extreme_u64[1](k.i64().data(), n)), high_word);
  }
  EXPECT_FALSE(std::signbit(GetParam()->sum_f64(nullptr, 0)));
}

TEST_P(TypedReductionsTest, ColumnsAreReducedAsRowsAre) {
  const TypedSteps& table = *GetParam();
  for (const DType dtype : {DType::f64, DType::i64, DType::u64}) {
    const auto kind = static_cast<size_t>(lanes_of(dtype));
    for (const size_t rows : {1, 7, 32, 33, 70}) {
      for (const size_t n : {1, 63, 64, 65, 1024, 1025, 3500}) {
        const size_t stride = rows + 3;
        const Values a = values(dtype, n * stride);
        const auto* const from = static_cast<const uint64_t*>(a.bytes()) + 3;
        Values out[3] = {Values(lanes_of(dtype), rows), Values(lanes_of(dtype), rows),
                         Values(lanes_of(dtype), rows)};
        const auto step = static_cast<ptrdiff_t>(stride);
        table.column_sums[kind](from, step, n, rows, out[0].bytes());
        table.column_minima[kind](from, step, n, rows, out[1].bytes());
        table.column_maxima[kind](from, step, n, rows, out[2].bytes());
        for (size_t r = 0; r < rows; ++r) {
          Values row(lanes_of(dtype), n);
          auto* const to = static_cast<uint64_t*>(row.bytes());
          for (size_t i = 0; i < n; ++i) to[i] = from[r + i * stride];
          if (dtype == DType::f64) {
            ASSERT_TRUE(same_number(out[0].f64()[r], table.sum_f64(row.f64().data(), n)));
            ASSERT_TRUE(same_number(out[1].f64()[r], table.extreme_f64[0](row.f64().data(), n)));
            ASSERT_TRUE(same_number(out[2].f64()[r], table.extreme_f64[1](row.f64().data(), n)));
            continue;
          }
          const auto& extremes = dtype == DType::u64 ? table.extreme_u64 : table.extreme_i64;
          ASSERT_EQ(out[0].i64()[r], table.sum_i64(row.i64().data(), n));
          ASSERT_EQ(out[1].i64()[r], extremes[0](row.i64().data(), n));
          ASSERT_EQ(out[2].i64()[r], extremes[1](row.i64().data(), n));
        }
      }
    }
  }
}

TEST_P(TypedReductionsTest, WhatIsEqualIsFoundFirst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const size_t n : {0, 1, 63, 64, 65, 200}) {
    for (size_t at = 0; at <= n; ++at) {
      std::vector<double> x(n, 1.5);
      std::vector<int64_t> k(n, -1);
      for (size_t i = at; i < n; i += 3) {
        x[i] = at % 2 == 0 ? nan : -0.0;
        k[i] = 7;
      }
      ASSERT_EQ(GetParam()->find_f64(x.data(), n, at % 2 == 0 ? nan : 0.0), at);
      ASSERT_EQ(GetParam()->find_i64(k.data(), n, 7), at);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TypedReductionsTest, ::testing::ValuesIn(runnable_typed_steps()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph::program
