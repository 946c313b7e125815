// The steps of f64 and integers, and casts, of every instruction set: against plain C++, and the
// same for numbers as for arrays.
#include "graph/program/typed_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/program/element_casts.h"
#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

constexpr DType kTypes[] = {DType::boolean, DType::f16, DType::bf16, DType::f32, DType::f64,
                            DType::i8,      DType::i16, DType::i32,  DType::i64, DType::u8,
                            DType::u16,     DType::u32, DType::u64};

class TypedStepsTest : public ::testing::TestWithParam<const TypedSteps*> {
 protected:
  Step step(Op op, Lanes lanes, unsigned scalars) const {
    return GetParam()->table[static_cast<size_t>(lanes)][static_cast<size_t>(op)][scalars];
  }
  Values values(DType dtype, size_t n) {
    Node node;
    node.dtype = dtype;
    node.shape = {static_cast<int64_t>(n)};
    return random_.values(node, true);
  }

  // As plain C++ has it, integers in 128 bits.
  static __int128 plain(Op op, __int128 a, __int128 b) {
    switch (op) {
      case Op::add:
        return a + b;
      case Op::subtract:
        return a - b;
      case Op::multiply:
        return static_cast<__int128>(static_cast<unsigned __int128>(a) *
                                     static_cast<unsigned __int128>(b));
      case Op::minimum:
        return a < b ? a : b;
      case Op::maximum:
        return a > b ? a : b;
      case Op::negate:
        return -a;
      case Op::absolute:
        return a < 0 ? -a : a;
      case Op::relu:
        return a < 0 ? 0 : a;
      default:
        return a;
    }
  }
  template <typename T>
  static float compared(Op op, T a, T b) {
    switch (op) {
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
      default:
        return a >= b ? 1.0f : 0.0f;
    }
  }

  RandomValues random_{test_seed()};
};

TEST_P(TypedStepsTest, IntegersWrap) {
  constexpr Op kOps[] = {Op::add,    Op::subtract, Op::multiply, Op::minimum, Op::maximum,
                         Op::negate, Op::absolute, Op::relu,     Op::copy};
  for (const DType dtype : {DType::i64, DType::u64}) {
    const Values a = values(dtype, 200);
    const Values b = values(dtype, 200);
    for (const Op op : kOps) {
      Values out(Lanes::i64, 200);
      step(op, lanes_of(dtype), 0)(a.bytes(), b.bytes(), nullptr, out.bytes(), 200);
      for (size_t i = 0; i < 200; ++i) {
        const auto exact = [&](int64_t x) -> __int128 {
          return dtype == DType::u64 ? static_cast<__int128>(static_cast<uint64_t>(x)) : x;
        };
        const auto wrapped = static_cast<int64_t>(
            static_cast<uint64_t>(plain(op, exact(a.i64()[i]), exact(b.i64()[i]))));
        ASSERT_EQ(out.i64()[i], wrapped) << properties(op).name;
      }
    }
  }
}

TEST_P(TypedStepsTest, ComparisonsLookAtSigns) {
  for (Op op = Op::equal; op <= Op::greater_equal; op = static_cast<Op>(static_cast<int>(op) + 1)) {
    for (const DType dtype : {DType::f64, DType::i64, DType::u64}) {
      const Values a = values(dtype, 300);
      Values b = values(dtype, 300);
      for (size_t i = 0; i < 300; i += 3) {  // some are equal
        std::memcpy(static_cast<std::byte*>(b.bytes()) + 8 * i,
                    static_cast<const std::byte*>(a.bytes()) + 8 * i, 8);
      }
      Values out(300);
      step(op, lanes_of(dtype), 0)(a.bytes(), b.bytes(), nullptr, out.bytes(), 300);
      for (size_t i = 0; i < 300; ++i) {
        const float expected = dtype == DType::f64 ? compared(op, a.f64()[i], b.f64()[i])
                               : dtype == DType::i64
                                   ? compared(op, a.i64()[i], b.i64()[i])
                                   : compared(op, static_cast<uint64_t>(a.i64()[i]),
                                              static_cast<uint64_t>(b.i64()[i]));
        ASSERT_EQ(out[i], expected) << properties(op).name;
      }
    }
  }
}

// At all sizes of numbers, and at the limits.
TEST_P(TypedStepsTest, DoublesAreNearTheExactResults) {
  Values::F64 x = {0.0,    -0.0,   5e-324, -5e-324, 2.3e-308, 1.0,       709.7, 709.8,
                   -745.1, -745.2, 1e308,  -1e308,  INFINITY, -INFINITY, NAN};
  for (double magnitude = 1e-320; magnitude < 1e300; magnitude *= 1.07) {
    x.push_back(magnitude);
    x.push_back(-magnitude);
  }
  for (double near = 0; near < 750; near += 0.0131) {
    x.push_back(near);
    x.push_back(-near);
  }
  const auto check = [&](Op op, long double units, const auto& exact) {
    Values out(Lanes::f64, x.size());
    step(op, Lanes::f64, 0)(x.data(), nullptr, nullptr, out.bytes(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const long double expected = exact(static_cast<long double>(x[i]));
      const double found = out.f64()[i];
      if (same_number(found, static_cast<double>(expected))) continue;
      ASSERT_TRUE(std::isfinite(found)) << properties(op).name << " of " << x[i];
      ASSERT_LE(std::fabs(found - expected), 0x1p-53L * units * std::fabs(expected) + 0x1p-1074L)
          << properties(op).name << " of " << x[i];
    }
  };
  using Real = long double;
  check(Op::exp, 2, [](Real a) { return std::exp(a); });
  check(Op::log, 2, [](Real a) { return std::log(a); });
  check(Op::tanh, 5, [](Real a) { return std::tanh(a); });
  check(Op::sigmoid, 4, [](Real a) { return 1 / (1 + std::exp(-a)); });
  check(Op::sqrt, 1, [](Real a) { return std::sqrt(a); });
  check(Op::rsqrt, 2, [](Real a) { return 1 / std::sqrt(a); });
}

TEST_P(TypedStepsTest, DoublesAreLibms) {
  const Values a = values(DType::f64, 400);
  const Values b = values(DType::f64, 400);
  const auto check = [&](Op op, const auto& expected) {
    Values out(Lanes::f64, 400);
    step(op, Lanes::f64, 0)(a.bytes(), b.bytes(), nullptr, out.bytes(), 400);
    for (size_t i = 0; i < 400; ++i) {
      ASSERT_TRUE(same_number(out.f64()[i], expected(a.f64()[i], b.f64()[i])))
          << properties(op).name << " of " << a.f64()[i] << ", " << b.f64()[i];
    }
  };
  check(Op::add, [](double x, double y) { return x + y; });
  check(Op::divide, [](double x, double y) { return x / y; });
  check(Op::power, [](double x, double y) { return std::pow(x, y); });
  check(Op::erf, [](double x, double) { return std::erf(x); });
  check(Op::rsqrt, [](double x, double) { return 1 / std::sqrt(x); });
  check(Op::relu, [](double x, double) { return x < 0 ? 0 : x; });
  check(Op::minimum, [](double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return x + y;
    return x < y || (x == y && std::signbit(x)) ? x : y;
  });
  Values out(Lanes::f64, 400);
  step(Op::sigmoid, Lanes::f64, 0)(a.bytes(), nullptr, nullptr, out.bytes(), 400);
  for (size_t i = 0; i < 400; ++i) {
    const long double exact = 1 / (1 + std::exp(-static_cast<long double>(a.f64()[i])));
    if (std::isnan(a.f64()[i])) continue;
    ASSERT_NEAR(out.f64()[i], static_cast<double>(exact), 4e-16 * static_cast<double>(exact));
  }
}

TEST_P(TypedStepsTest, PowersOfIntegersAreProducts) {
  for (const DType dtype : {DType::i64, DType::u64}) {
    for (int64_t x = dtype == DType::u64 ? 0 : -5; x <= 5; ++x) {
      uint64_t product = 1;
      for (int64_t n = 0; n < 70; ++n, product *= static_cast<uint64_t>(x)) {
        int64_t found = 0;
        step(Op::power, lanes_of(dtype), 0)(&x, &n, nullptr, &found, 1);
        ASSERT_EQ(static_cast<uint64_t>(found), product) << x << " ^ " << n;
      }
    }
  }
}

TEST_P(TypedStepsTest, NumbersAndArraysGiveTheSame) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::u64}) {
    const Lanes lanes = lanes_of(dtype);
    for (size_t k = 0; k < kOps; ++k) {
      const Op op = static_cast<Op>(k);
      if (step(op, lanes, 0) == nullptr) continue;
      const auto inputs = static_cast<unsigned>(properties(op).inputs);
      const Values b = values(dtype, 37);
      const Values c = values(dtype, 37);
      const Values a = op == Op::where ? values(DType::boolean, 37) : values(dtype, 37);
      for (unsigned scalars = 1; scalars < 1u << inputs; ++scalars) {
        ASSERT_NE(step(op, lanes, scalars), nullptr) << properties(op).name;
        const auto repeated = [&](const Values& from, unsigned which) {
          Values to = from;
          for (size_t i = 0; i < 37 && (scalars & which) != 0; ++i) {
            std::memcpy(static_cast<std::byte*>(to.bytes()) + i * to.lane(), from.bytes(),
                        to.lane());
          }
          return to;
        };
        const Values x = repeated(a, 1);
        const Values y = repeated(b, 2);
        const Values z = repeated(c, 4);
        Values found(is_comparison(op) ? Lanes::f32 : lanes, 37);
        Values expected = found;
        step(op, lanes, scalars)(a.bytes(), b.bytes(), c.bytes(), found.bytes(), 37);
        step(op, lanes, 0)(x.bytes(), y.bytes(), z.bytes(), expected.bytes(), 37);
        ASSERT_TRUE(same_values(found, expected)) << properties(op).name << " " << scalars;
      }
    }
  }
}

// Each type has casts from all lanes; those of numbers and arrays are the same.
TEST_P(TypedStepsTest, CastsAreThoseOfSingleElements) {
  for (const DType from : kTypes) {
    const Values x = values(from, 300);
    for (const DType to : kTypes) {
      const auto& cast =
          GetParam()->casts[static_cast<size_t>(lanes_of(from))][static_cast<size_t>(to)];
      Values found(lanes_of(to), 300);
      cast[0](x.bytes(), nullptr, nullptr, found.bytes(), 300);
      for (size_t i = 0; i < 300; ++i) {
        Values one(lanes_of(to), 2);
        cast[1](static_cast<const std::byte*>(x.bytes()) + i * x.lane(), nullptr, nullptr,
                one.bytes(), 2);
        Values alone(lanes_of(to), 2);
        for (size_t k = 0; k < 2; ++k) {
          std::memcpy(static_cast<std::byte*>(alone.bytes()) + k * alone.lane(),
                      static_cast<std::byte*>(found.bytes()) + i * found.lane(), found.lane());
        }
        ASSERT_TRUE(same_values(one, alone));
      }
    }
  }
}

TEST_P(TypedStepsTest, FloatsBecomeIntegersThatFit) {
  const auto cast = [&](double x, DType to) {
    int64_t result = 0;
    GetParam()->casts[1][static_cast<size_t>(to)][0](&x, nullptr, nullptr, &result, 1);
    return result;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(cast(-2.9, DType::i8), -2);
  EXPECT_EQ(cast(-0.9, DType::u8), 0);
  EXPECT_EQ(cast(300, DType::i8), 127);
  EXPECT_EQ(cast(-300, DType::i8), -128);
  EXPECT_EQ(cast(300, DType::u8), 255);
  EXPECT_EQ(cast(infinity, DType::i64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cast(-infinity, DType::i64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(cast(0x1p63, DType::i64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cast(0x1p64, DType::u64), -1);
  EXPECT_EQ(static_cast<uint64_t>(cast(0x1.8p63, DType::u64)), uint64_t{3} << 62);
  EXPECT_EQ(cast(std::nan(""), DType::i32), 0);
}

// Above the middle of two numbers of the narrow type by less than f32 tells.
TEST_P(TypedStepsTest, NarrowFloatsAreRoundedOnce) {
  const double above = 1 + 0x1p-11 + 0x1p-40;
  float found = 0;
  GetParam()->casts[1][static_cast<size_t>(DType::f16)][0](&above, nullptr, nullptr, &found, 1);
  EXPECT_EQ(found, 1 + 0x1p-10f);
  const int64_t whole = (int64_t{1} << 54) + (int64_t{1} << 46) + 1;
  GetParam()->casts[2][static_cast<size_t>(DType::bf16)][0](&whole, nullptr, nullptr, &found, 1);
  EXPECT_EQ(found, 0x1p54f + 0x1p47f);
  const double tiny = 0x1p-25 + 0x1p-70;  // above half of f16's least number
  GetParam()->casts[1][static_cast<size_t>(DType::f16)][0](&tiny, nullptr, nullptr, &found, 1);
  EXPECT_EQ(found, 0x1p-24f);
}

INSTANTIATE_TEST_SUITE_P(All, TypedStepsTest, ::testing::ValuesIn(runnable_typed_steps()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph::program
