// Every step of every instruction set: against plain C++, at all lengths of the last vector, and
// the same for numbers as for arrays.
#include "graph/program/steps.h"

#include <gtest/gtest.h>

#include "graph/ops/ops.h"
#include "graph/ops/testing.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

class StepsTest : public ::testing::TestWithParam<const StepTable*> {};

TEST_P(StepsTest, ExtremesOrderZerosAndPropagateNan) {
  for (const float a : special_floats()) {
    for (const float b : special_floats()) {
      float low = 0;
      float high = 0;
      GetParam()->step(Op::minimum, 0)(&a, &b, nullptr, &low, 1);
      GetParam()->step(Op::maximum, 0)(&a, &b, nullptr, &high, 1);
      EXPECT_TRUE(same_float(low, minimum_of(a, b))) << a << ", " << b;
      EXPECT_TRUE(same_float(high, maximum_of(a, b))) << a << ", " << b;
      EXPECT_EQ(std::isnan(low), std::isnan(a) || std::isnan(b));
    }
  }
  EXPECT_TRUE(std::signbit(minimum_of(0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(maximum_of(-0.0f, 0.0f)));
}

TEST_P(StepsTest, ExtremesOfManyMatchPlainLoops) {
  Random random;
  for (const size_t n : lengths()) {
    if (n == 0) continue;
    const Guarded a(n % 2 == 0 ? random.hostile(n) : random.normal(n));
    float low = a[0];
    float high = a[0];
    for (size_t i = 1; i < n; ++i) {
      low = minimum_of(low, a[i]);
      high = maximum_of(high, a[i]);
    }
    ASSERT_TRUE(same_float(GetParam()->minimum(a.data(), n), low)) << n;
    ASSERT_TRUE(same_float(GetParam()->maximum(a.data(), n), high)) << n;
  }
}

// As plain C++ has it, where that is exact.
float plain(Op op, float a, float b, float c) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::power:
      return std::pow(a, b);
    case Op::equal:
      return a == b ? 1.0f : 0.0f;
    case Op::not_equal:
      return a != b ? 1.0f : 0.0f;
    case Op::less:
      return a < b ? 1.0f : 0.0f;
    case Op::less_equal:
      return a <= b ? 1.0f : 0.0f;
    case Op::greater:
      return a > b ? 1.0f : 0.0f;
    case Op::greater_equal:
      return a >= b ? 1.0f : 0.0f;
    case Op::where:
      return a != 0 ? b : c;
    case Op::negate:
      return -a;
    case Op::absolute:
      return std::fabs(a);
    default:
      return a;
  }
}

TEST_P(StepsTest, NumbersAndArraysGiveTheSame) {
  Random random;
  for (size_t k = 0; k < kOps; ++k) {
    const Op op = static_cast<Op>(k);
    if (!is_elementwise(op)) continue;
    if (GetParam()->step(op, 0) == nullptr) {  // typed_steps_test.cc has it
      EXPECT_NE(step_for(op, Lanes::i64, DType::i64, 0), nullptr) << properties(op).name;
      continue;
    }
    const bool is_plain = plain(op, 2.0f, 5.0f, 7.0f) != 2.0f || op == Op::copy;
    const unsigned inputs = static_cast<unsigned>(properties(op).inputs);
    for (const size_t n : {0, 1, 7, 16, 17, 33, 70}) {
      const Guarded a(random.hostile(n));
      const Guarded b(random.hostile(n));
      const Guarded c(random.hostile(n));
      for (unsigned scalars = 0; scalars < 1u << inputs; ++scalars) {
        const Step step = GetParam()->step(op, scalars);
        ASSERT_NE(step, nullptr) << properties(op).name << " " << scalars;
        const Guarded out(n);
        const float number = 1.5f;
        step((scalars & 1) != 0 ? &number : a.data(), (scalars & 2) != 0 ? &number : b.data(),
             (scalars & 4) != 0 ? &number : c.data(), out.data(), n);
        for (size_t i = 0; i < n; ++i) {
          const float x = (scalars & 1) != 0 ? number : a[i];
          const float y = (scalars & 2) != 0 ? number : b[i];
          const float z = (scalars & 4) != 0 ? number : c[i];
          float alone = 0;
          GetParam()->step(op, 0)(&x, &y, &z, &alone, 1);
          ASSERT_TRUE(same_float(out[i], alone)) << properties(op).name << " of " << x << ", " << y;
          if (!is_plain) continue;
          ASSERT_TRUE(same_float(alone, plain(op, x, y, z)))
              << properties(op).name << " of " << x << ", " << y << ", " << z << ": " << alone;
        }
      }
    }
  }
}

TEST_P(StepsTest, SumsOfFewAreThoseOfMany) {
  Random random;
  for (size_t n = 0; n <= kFew; ++n) {
    const Guarded a(n % 3 == 0 ? random.hostile(n) : random.normal(n));
    ASSERT_TRUE(same_float(GetParam()->sum_of_few(a.data(), n), sum(a.data(), n))) << n;
  }
  const float zero = -0.0f;
  EXPECT_FALSE(std::signbit(GetParam()->sum_of_few(&zero, 1)));
}

TEST_P(StepsTest, ColumnsAreReducedAsRowsAre) {
  Random random;
  const StepTable& table = *GetParam();
  for (const size_t rows : {1, 7, 16, 17, 40, 255, 257, 530}) {
    for (const size_t n : {1, 2, 3, 5, 9, 10, 16, 17, 33, 63, 64, 65, 1000, 1024, 1025, 3500}) {
      const size_t stride = rows + 3;
      const Guarded a(n % 2 == 0 ? random.hostile(n * stride) : random.normal(n * stride));
      const Guarded sums(rows);
      const Guarded low(rows);
      const Guarded high(rows);
      const auto step = static_cast<ptrdiff_t>(stride);
      table.column_sums(a.data() + 3, step, n, rows, sums.data());
      table.column_minima(a.data() + 3, step, n, rows, low.data());
      table.column_maxima(a.data() + 3, step, n, rows, high.data());
      for (size_t r = 0; r < rows; ++r) {
        std::vector<float> row;
        for (size_t i = 0; i < n; ++i) row.push_back(a[3 + r + i * stride]);
        ASSERT_TRUE(same_float(sums[r], sum(row.data(), n))) << rows << " x " << n;
        ASSERT_TRUE(same_float(low[r], table.minimum(row.data(), n))) << rows << " x " << n;
        ASSERT_TRUE(same_float(high[r], table.maximum(row.data(), n))) << rows << " x " << n;
      }
    }
  }
}

TEST_P(StepsTest, RowProductsAddInTheOrderOfRows) {
  Random random;
  for (const size_t columns : {1, 15, 16, 33, 64, 100}) {
    for (const size_t depth : {1, 7, 8, 9, 40}) {
      const Guarded a(random.normal(depth));
      const Guarded b(random.normal(depth * columns));
      const Guarded c(columns);
      GetParam()->row_product(a.data(), b.data(), columns, c.data(), columns, depth);
      for (size_t j = 0; j < columns; ++j) {
        float fused = 0;
        float rounded = 0;
        for (size_t p = 0; p < depth; ++p) {
          fused = std::fma(a[p], b[p * columns + j], fused);
          rounded += a[p] * b[p * columns + j];
        }
        ASSERT_TRUE(c[j] == fused || c[j] == rounded) << columns << " x " << depth;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, StepsTest, ::testing::ValuesIn(runnable_steps()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph::program
