#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/test_devices.h"
#include "ops/gemm/check.h"
#include "ops/gemm/gemm_cases.h"
#include "ops/gemm/reference.h"
#include "ops/gemm/run.h"
#include "ops/gemm/square_product.h"
#include "ops/gemm/verification.h"

namespace hoist::gemm {
namespace {

using Complex = std::complex<double>;

// A dense matrix in double precision, whatever the type.
struct Dense {
  int64_t rows;
  int64_t columns;
  std::vector<Complex> values;
  Complex& operator()(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row + column * rows)];
  }
  Complex operator()(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row + column * rows)];
  }
};

Dense make(int64_t rows, int64_t columns) {
  return {rows, columns, std::vector<Complex>(static_cast<size_t>(rows * columns))};
}

Dense load(const Operand& operand, char type) {
  Dense dense = make(operand.rows, operand.columns);
  const size_t element = element_size(type);
  for (int64_t j = 0; j < operand.columns; ++j) {
    for (int64_t i = 0; i < operand.rows; ++i) {
      dense(i, j) =
          get(operand.data + static_cast<size_t>(i + j * operand.leading) * element, type);
    }
  }
  return dense;
}

Dense multiply(const Dense& left, const Dense& right) {
  Dense product = make(left.rows, right.columns);
  for (int64_t i = 0; i < left.rows; ++i) {
    for (int64_t j = 0; j < right.columns; ++j) {
      for (int64_t l = 0; l < left.columns; ++l) product(i, j) += left(i, l) * right(l, j);
    }
  }
  return product;
}

Dense transposed(const Dense& matrix, char trans) {
  if (trans == 'N') return matrix;
  Dense result = make(matrix.columns, matrix.rows);
  for (int64_t i = 0; i < matrix.rows; ++i) {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      result(j, i) = trans == 'C' ? std::conj(matrix(i, j)) : matrix(i, j);
    }
  }
  return result;
}

// The whole matrix of which the call reads a triangle.
Dense completed(const Dense& stored, const hoist_blas_call& call) {
  Dense whole = stored;
  const bool is_triangular = call.routine == HOIST_BLAS_TRMM || call.routine == HOIST_BLAS_TRSM;
  for (int64_t i = 0; i < stored.rows; ++i) {
    for (int64_t j = 0; j < stored.columns; ++j) {
      const bool is_stored = call.upper ? i <= j : i >= j;
      if (is_triangular) {
        if (!is_stored) whole(i, j) = 0;
        if (i == j && call.unit) whole(i, j) = 1;
      } else {
        if (!is_stored) {
          whole(i, j) = call.routine == HOIST_BLAS_HEMM ? std::conj(stored(j, i)) : stored(j, i);
        }
        if (i == j && call.routine == HOIST_BLAS_HEMM) whole(i, j) = stored(i, i).real();
      }
    }
  }
  return whole;
}

// What the product part of the call is; for trsm op(A) times the solution, or the other way round.
Dense expected_product(const hoist_blas_call& call, const Plan& plan, const Dense& c) {
  const Dense a = load(plan.operands[0], call.type);
  const Dense b = load(plan.operands[1], call.type);
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      return multiply(transposed(a, call.trans_a), transposed(b, call.trans_b));
    case HOIST_BLAS_SYMM:
    case HOIST_BLAS_HEMM:
      return call.left ? multiply(completed(a, call), b) : multiply(b, completed(a, call));
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK: {
      const Dense left = call.trans_a == 'N' ? a : transposed(a, call.trans_a);
      return multiply(left, transposed(left, call.routine == HOIST_BLAS_HERK ? 'C' : 'T'));
    }
    default: {
      const Dense whole = transposed(completed(a, call), call.trans_a);
      return call.left ? multiply(whole, c) : multiply(c, whole);
    }
  }
}

TEST(Reference, EqualsDenseProducts) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Problem problem = ProblemMaker(seed, 6).make();
    hoist_blas_call& call = problem.call;
    const Plan plan = make_plan(call);
    const Dense before = load(plan.operands[2], call.type);
    run_reference(call);
    const Dense after = load(plan.operands[2], call.type);
    const Complex alpha(call.alpha[0], call.alpha[1]);
    const Complex beta(call.beta[0], call.beta[1]);
    const bool is_solve = call.routine == HOIST_BLAS_TRSM;
    const Dense product = expected_product(call, plan, is_solve ? after : before);
    for (int64_t j = 0; j < call.n; ++j) {
      for (int64_t i = 0; i < call.m; ++i) {
        Complex expected = alpha * product(i, j) + beta * before(i, j);
        Complex actual = after(i, j);
        if (is_solve) {
          expected = alpha * before(i, j);
          actual = product(i, j);
        } else if (call.routine == HOIST_BLAS_TRMM) {
          expected = alpha * product(i, j);
        } else if (is_rank_update(call) && (call.upper ? i > j : i < j)) {
          expected = before(i, j);
        } else if (call.routine == HOIST_BLAS_HERK && i == j) {
          expected = expected.real();
        }
        ASSERT_EQ(expected, actual) << "seed " << seed << ", routine " << call.routine << ", type "
                                    << call.type << ", at " << i << ", " << j;
      }
    }
  }
}

class Run : public device::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Gemm, Run, device::kTestDevices, device::device_name);

// Small panels and small chunks: every cut and every border.
TEST_P(Run, EqualsReferenceInAllOfTheMemory) {
  device::PinnedPool pool(device());
  device::Transfer transfer(pool);
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Problem problem = ProblemMaker(seed, seed % 2 == 0 ? 6 : 40).make();
    if (problem.call.routine == HOIST_BLAS_TRSM && seed % 2 != 0) continue;  // not exact
    Problem expected = problem;
    expected.point();
    run_reference(expected.call);
    const Status done = run(problem.call, device(), transfer, /*panel_bytes=*/1 + seed * 37 % 4096);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(problem.c, expected.c) << "seed " << seed << ", routine " << problem.call.routine
                                     << ", type " << problem.call.type;
    ASSERT_EQ(problem.a, expected.a);
    ASSERT_EQ(problem.b, expected.b);
  }
}

TEST_P(Run, BetaZeroDoesNotReadTheResult) {
  device::PinnedPool pool(device());
  device::Transfer transfer(pool);
  std::vector<double> a(64 * 64, 1);
  std::vector<double> c(64 * 64, std::numeric_limits<double>::quiet_NaN());
  hoist_blas_call call = {};
  call.routine = HOIST_BLAS_GEMM;
  call.type = 'd';
  call.trans_a = call.trans_b = 'N';
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = 64;
  call.alpha[0] = 1;
  call.a = call.b = a.data();
  call.c = c.data();
  ASSERT_EQ(reason_to_pass(call), nullptr);
  ASSERT_TRUE(run(call, device(), transfer));
  EXPECT_EQ(c, std::vector<double>(64 * 64, 64));
}

TEST_P(Run, NotANumberAndInfinityGoThrough) {
  device::PinnedPool pool(device());
  device::Transfer transfer(pool);
  std::vector<double> a(16, 1);
  std::vector<double> b(16, 1);
  std::vector<double> c(16, 0);
  a[0] = std::numeric_limits<double>::quiet_NaN();
  a[1] = std::numeric_limits<double>::infinity();
  hoist_blas_call call = {};
  call.routine = HOIST_BLAS_GEMM;
  call.type = 'd';
  call.trans_a = call.trans_b = 'N';
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = 4;
  call.alpha[0] = 1;
  call.a = a.data();
  call.b = b.data();
  call.c = c.data();
  ASSERT_TRUE(run(call, device(), transfer));
  for (size_t at = 0; at < c.size(); ++at) {
    if (at % 4 == 0) {
      EXPECT_TRUE(std::isnan(c[at]));
    } else {
      EXPECT_EQ(c[at], at % 4 == 1 ? std::numeric_limits<double>::infinity() : 4);
    }
  }
}

// Against sums in double precision: the factors of single precision are whole unless they need not
// be, and then the error is what a shorter factor makes.
TEST_P(Run, PrecisionIsFullUnlessLessIsAsked) {
  device::PinnedPool pool(device());
  device::Transfer transfer(pool);
  const bool has_tensor_cores = device().properties().compute_major >= 8;
  constexpr int64_t kExtent = 384;
  const SquareProduct product('s', kExtent);
  const auto* const a = static_cast<const float*>(product.call().a);
  const auto* const b = static_cast<const float*>(product.call().b);
  const auto* const c = static_cast<const float*>(product.call().c);
  for (const bool may_use_tf32 : {false, true}) {
    hoist_blas_call call = product.call();
    call.may_use_tf32 = may_use_tf32;
    ASSERT_TRUE(run(call, device(), transfer));
    double squares = 0;
    for (int64_t j = 0; j < kExtent; j += 7) {
      for (int64_t i = 0; i < kExtent; i += 5) {
        double sum = 0;
        for (int64_t l = 0; l < kExtent; ++l) {
          sum += static_cast<double>(a[i + l * kExtent]) * static_cast<double>(b[l + j * kExtent]);
        }
        squares += std::pow(sum - static_cast<double>(c[i + j * kExtent]), 2);
      }
    }
    const double error = std::sqrt(squares / ((kExtent + 6) / 7 * ((kExtent + 4) / 5)));
    // A factor of 11 bits is off by up to 2⁻¹¹, and so a sum of k products by some √k / 3 of that;
    // between that and what single precision makes of it are three decimal digits.
    const double limit = 0x1p-15 * std::sqrt(static_cast<double>(kExtent)) / 3;
    EXPECT_EQ(error > limit, may_use_tf32 && has_tensor_cores) << error << ", limit " << limit;
  }
}

// Whenever the device is lost, nothing has changed.
TEST(Failure, LeavesTheResultAsItWas) {
  int failures = 0;
  for (int operations = 0; operations < 400; ++operations) {
    Problem problem = ProblemMaker(static_cast<uint64_t>(operations) + 1, 24).make();
    const std::vector<std::byte> before = problem.c;
    const bool is_read = make_plan(problem.call).operands[2].is_read;
    device::FailingDevice device(operations);
    device::PinnedPool pool(device);
    device::Transfer transfer(pool);
    const Status done = run(problem.call, device, transfer, /*panel_bytes=*/256);
    if (done) continue;
    ++failures;
    // With beta = 0 the former content did not count, and the original writes all of it anew.
    if (!is_read) continue;
    ASSERT_EQ(problem.c, before) << "operations " << operations;
  }
  EXPECT_GT(failures, 20);
}

TEST(Check, LeavesToTheOriginalWhatIsItsBusiness) {
  const Problem good = [] {
    Problem problem = ProblemMaker(3, 20).make();
    return problem;
  }();
  const auto reason = [&](auto change) {
    Problem problem = good;
    problem.point();
    change(problem.call);
    return reason_to_pass(problem.call);
  };
  EXPECT_EQ(reason([](hoist_blas_call&) {}), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.m = 0; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.n = -1; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.alpha[0] = call.alpha[1] = 0; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.ldc = call.m - 1; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.trans_a = 'X'; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.type = 'q'; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.a = call.c; }), nullptr);
  EXPECT_NE(reason([](hoist_blas_call& call) { call.lda = INT64_MAX; }), nullptr);
}

TEST(Verification, AcceptsRoundingAndFindsErrors) {
  std::mt19937_64 random(5);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Problem problem = ProblemMaker(seed, 30).make();
    const hoist_blas_call& call = problem.call;
    if (call.routine == HOIST_BLAS_TRSM) continue;
    Verification accepted(call);
    Problem expected = problem;
    expected.point();
    run_reference(expected.call);
    Verification refused(call);
    ASSERT_EQ(accepted.left_out(), nullptr);
    std::copy(expected.c.begin(), expected.c.end(), problem.c.begin());
    EXPECT_TRUE(accepted.is_same(kReferenceOriginal)) << "seed " << seed;
    // One element that the call writes is off by far more than rounding.
    const auto i = static_cast<int64_t>(random() % static_cast<uint64_t>(call.m));
    const int64_t j =
        is_rank_update(call) ? i : static_cast<int64_t>(random() % static_cast<uint64_t>(call.n));
    put(problem.c.data() + static_cast<size_t>(i + j * call.ldc) * element_size(call.type),
        call.type, 1e6, 0);
    EXPECT_FALSE(refused.is_same(kReferenceOriginal)) << "seed " << seed;
    refused.restore();
    EXPECT_EQ(problem.c, expected.c);
  }
}

}  // namespace
}  // namespace hoist::gemm
