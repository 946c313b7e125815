// Every kernel of every instruction set against plain loops, at all lengths of the last vector.
#include "graph/ops/kernels.h"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/ops/testing.h"

namespace hoist::graph {
namespace {

using ops_detail::Kernels;

float minimum(float a, float b) { return std::isnan(a) || a < b ? a : b; }
float maximum(float a, float b) { return std::isnan(a) || a > b ? a : b; }

float plain(Binary operation, float a, float b) {
  switch (operation) {
    case Binary::add:
      return a + b;
    case Binary::subtract:
      return a - b;
    case Binary::multiply:
      return a * b;
    case Binary::divide:
      return a / b;
    case Binary::minimum:
      return minimum(a, b);
    case Binary::maximum:
      return maximum(a, b);
    case Binary::fmin:
      return std::isnan(b) ? a : std::isnan(a) ? b : std::min(a, b);
    case Binary::fmax:
      break;
  }
  return std::isnan(b) ? a : std::isnan(a) ? b : std::max(a, b);
}

// Equal, any NaN as any other, zeros of any sign where `zeros` says so.
::testing::AssertionResult same(float found, float expected, bool any_zero = false) {
  if (std::isnan(expected)
          ? std::isnan(found)
          : found == expected && (any_zero || std::signbit(found) == std::signbit(expected))) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << found << " instead of " << expected;
}

class KernelsTest : public ::testing::TestWithParam<const Kernels<float>*> {
 protected:
  const Kernels<float>& kernels() const { return *GetParam(); }
  Random random_;
};

TEST_P(KernelsTest, BinaryOperationsMatchPlainLoops) {
  for (const size_t n : lengths()) {
    const Guarded a(random_.hostile(n));
    const Guarded b(random_.hostile(n));
    for (size_t k = 0; k < kBinaries; ++k) {
      const Guarded c(n);
      kernels().binary[k](a.data(), b.data(), c.data(), n);
      for (size_t i = 0; i < n; ++i) {
        const auto operation = static_cast<Binary>(k);
        ASSERT_TRUE(same(c[i], plain(operation, a[i], b[i]), operation >= Binary::minimum))
            << k << " of " << a[i] << ", " << b[i] << " at " << i << " of " << n;
      }
    }
  }
}

TEST_P(KernelsTest, OutputsMayBeInputs) {
  for (const size_t n : {1, 15, 16, 17, 1000}) {
    const Guarded a(random_.normal(n));
    const Guarded b(random_.normal(n));
    const std::vector<float> first(a.data(), a.data() + n);
    const std::vector<float> second(b.data(), b.data() + n);
    kernels().binary[static_cast<size_t>(Binary::subtract)](a.data(), b.data(), a.data(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], first[i] - b[i]);
    kernels().binary[static_cast<size_t>(Binary::add)](b.data(), b.data(), b.data(), n);
    kernels().unary[static_cast<size_t>(Unary::negative)](b.data(), b.data(), n);
    kernels().scalar[static_cast<size_t>(Scalar::add)](b.data(), b.data(), n, 1.0f);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(b[i], 1.0f - 2 * second[i]) << i;
  }
}

TEST_P(KernelsTest, SimpleUnaryOperationsMatchPlainLoops) {
  for (const size_t n : lengths()) {
    const Guarded a(random_.hostile(n));
    const Guarded c(n);
    const auto check = [&](Unary operation, auto plain) {
      kernels().unary[static_cast<size_t>(operation)](a.data(), c.data(), n);
      for (size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same(c[i], plain(a[i]), true)) << static_cast<int>(operation) << ", " << a[i];
      }
    };
    check(Unary::absolute, [](float x) { return std::fabs(x); });
    check(Unary::negative, [](float x) { return -x; });
    check(Unary::relu, [](float x) { return x < 0 ? 0.0f : x; });
    check(Unary::frelu, [](float x) { return x > 0 ? x : 0.0f; });
  }
}

TEST_P(KernelsTest, ScalarsAndClipMatchPlainLoops) {
  for (const size_t n : lengths()) {
    const Guarded a(random_.hostile(n));
    const Guarded c(n);
    for (const float number : {0.0f, 2.5f, -kInfinity, kNan}) {
      kernels().scalar[static_cast<size_t>(Scalar::add)](a.data(), c.data(), n, number);
      for (size_t i = 0; i < n; ++i) ASSERT_TRUE(same(c[i], a[i] + number));
      kernels().scalar[static_cast<size_t>(Scalar::multiply)](a.data(), c.data(), n, number);
      for (size_t i = 0; i < n; ++i) ASSERT_TRUE(same(c[i], a[i] * number));
      kernels().clip(a.data(), c.data(), n, -1.0f, number);
      for (size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same(c[i], minimum(maximum(a[i], -1.0f), number), true));
      }
      kernels().fclip(a.data(), c.data(), n, -1.0f, number);
      for (size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same(c[i], std::fmin(std::fmax(a[i], -1.0f), number), true));
      }
    }
  }
}

TEST_P(KernelsTest, ExtremesMatchPlainLoops) {
  for (const size_t n : lengths()) {
    if (n == 0) continue;
    for (const bool hostile : {false, true}) {
      const Guarded a(hostile ? random_.hostile(n) : random_.normal(n));
      for (size_t k = 0; k < kExtremes; ++k) {
        const auto operation = static_cast<Binary>(k + static_cast<size_t>(Binary::minimum));
        float expected = a[0];
        for (size_t i = 1; i < n; ++i) expected = plain(operation, expected, a[i]);
        ASSERT_TRUE(same(kernels().extreme[k](a.data(), n), expected, true)) << k << ", " << n;
      }
    }
  }
  const Guarded only_nan(std::vector<float>(100, kNan));
  EXPECT_TRUE(
      std::isnan(kernels().extreme[static_cast<size_t>(Extreme::fmin)](only_nan.data(), 100)));
}

TEST_P(KernelsTest, SumsAreWithinTheirBound) {
  std::vector<size_t> all = lengths();
  all.push_back(1 << 20);
  all.push_back((1 << 20) + 12345);
  for (const size_t n : all) {
    const Guarded a(random_.normal(n));
    const Guarded b(random_.normal(n));
    double sum = 0;
    double sizes = 0;
    double dot = 0;
    double dot_sizes = 0;
    double squares = 0;
    for (size_t i = 0; i < n; ++i) {
      sum += a[i];
      sizes += std::fabs(a[i]);
      dot += double{a[i]} * b[i];
      dot_sizes += std::fabs(double{a[i]} * b[i]);
      squares += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    }
    const double bound = (22 + std::max(0.0, std::log2(static_cast<double>(n) / 1024))) * kUnit;
    ASSERT_LE(std::fabs(kernels().sum(a.data(), n) - sum), bound * sizes) << n;
    ASSERT_LE(std::fabs(kernels().dot(a.data(), b.data(), n) - dot), (bound + kUnit) * dot_sizes)
        << n;
    const float found =
        kernels().loss_sum[static_cast<size_t>(LossSum::squares)](a.data(), b.data(), n);
    ASSERT_LE(std::fabs(found - squares), (bound + 3 * kUnit) * squares) << n;
  }
}

TEST_P(KernelsTest, SumsAreTheSameForEveryInstructionSet) {
  const Kernels<float>& last = *ops_detail::runnable_f32().back();
  for (const size_t n : lengths()) {
    const Guarded a(random_.normal(n));
    ASSERT_EQ(kernels().sum(a.data(), n), last.sum(a.data(), n)) << n;
  }
}

TEST_P(KernelsTest, CrossEntropiesMatchPlainLoops) {
  for (const size_t n : lengths()) {
    std::vector<float> p = random_.normal(n);
    std::vector<float> t = random_.normal(n);
    for (size_t i = 0; i < n; ++i) {
      p[i] = 1 / (1 + std::exp(-p[i]));
      t[i] = std::fabs(t[i]);
    }
    const Guarded predictions(p);
    const Guarded targets(t);
    double cross = 0;
    double binary = 0;
    double sizes = 0;
    for (size_t i = 0; i < n; ++i) {
      cross += t[i] * std::log(double{p[i]});
      binary += t[i] * std::log(double{p[i]}) + (1 - double{t[i]}) * std::log(double{1 - p[i]});
      sizes += (1 + 2 * t[i]) * (std::fabs(std::log(p[i])) + std::fabs(std::log(1 - p[i])));
    }
    const double bound =
        (26 + std::max(0.0, std::log2(static_cast<double>(n) / 1024))) * kUnit * sizes;
    const auto found = [&](LossSum which) {
      return kernels().loss_sum[static_cast<size_t>(which)](predictions.data(), targets.data(), n);
    };
    ASSERT_LE(std::fabs(found(LossSum::cross_entropy) - cross), bound) << n;
    ASSERT_LE(std::fabs(found(LossSum::binary_cross_entropy) - binary), bound) << n;
  }
}

TEST_P(KernelsTest, ResultsThatGoPastTheCachesAreComplete) {
  const size_t n = (size_t{1} << 21) + 37;
  const std::vector<float> a = random_.normal(n + 1);
  const std::vector<float> b = random_.normal(n + 1);
  for (const size_t shift : {0, 1}) {
    std::vector<float> c(n + 2, -1.0f);
    kernels().binary[static_cast<size_t>(Binary::add)](a.data() + shift, b.data(), c.data() + shift,
                                                       n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(c[i + shift], a[i + shift] + b[i]);
    EXPECT_EQ(c[n + shift], -1.0f);
    kernels().unary[static_cast<size_t>(Unary::negative)](a.data(), c.data() + shift, n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(c[i + shift], -a[i]);
  }
}

TEST_P(KernelsTest, TilesMatchPlainLoops) {
  const auto [most_rows, most_columns] = kernels().tile_size;
  for (size_t rows = 1; rows <= most_rows; ++rows) {
    for (size_t columns = 1; columns <= most_columns; ++columns) {
      for (const size_t depth : {1, 3, 8}) {
        const size_t a_row = depth + 2;
        const size_t b_row = columns + 1;
        const size_t c_row = columns + 3;
        const Guarded a(random_.normal((rows - 1) * a_row + depth));
        const Guarded b(random_.normal((depth - 1) * b_row + columns));
        const Guarded c(random_.normal((rows - 1) * c_row + columns));
        const std::vector<float> before(c.data(), c.data() + c.size());
        for (const bool overwrites : {true, false}) {
          std::copy(before.begin(), before.end(), c.data());
          kernels().tile(a.data(), a_row, 1, b.data(), b_row, c.data(), c_row, rows, columns, depth,
                         overwrites);
          for (size_t at = 0; at < c.size(); ++at) {
            const size_t i = at / c_row;
            const size_t j = at % c_row;
            if (j >= columns) {
              ASSERT_EQ(c[at], before[at]) << "behind a row";
              continue;
            }
            double sum = overwrites ? 0.0 : before[at];
            double sizes = std::fabs(sum);
            for (size_t p = 0; p < depth; ++p) {
              sum += double{a[i * a_row + p]} * b[p * b_row + j];
              sizes += std::fabs(double{a[i * a_row + p]} * b[p * b_row + j]);
            }
            ASSERT_NEAR(c[at], sum, 10 * kUnit * sizes) << rows << " x " << columns;
          }
        }
      }
    }
  }
}

TEST_P(KernelsTest, APanelOfAIsReadByColumns) {
  const auto [rows, columns] = kernels().tile_size;
  const size_t depth = 5;
  const Guarded a(random_.normal(rows * depth));
  const Guarded b(random_.normal(columns * depth));
  const Guarded c(rows * columns);
  kernels().tile(a.data(), 1, rows, b.data(), columns, c.data(), columns, rows, columns, depth,
                 true);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (size_t p = 0; p < depth; ++p) sum += double{a[p * rows + i]} * b[p * columns + j];
      ASSERT_NEAR(c[i * columns + j], sum, 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest, ::testing::ValuesIn(ops_detail::runnable_f32()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph
