// NaN and infinities: what a call does not read must not reach its result, and what it reads must
// reach what depends on it. What is finite here is far from 0: whether a 0 beside a NaN is skipped,
// as the reference BLAS does in places, is left open.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "device/test_devices.h"
#include "ops/gemm/check.h"
#include "ops/gemm/gemm_cases.h"
#include "ops/gemm/run.h"
#include "ops/gemm/verification.h"

namespace hoist::gemm {
namespace {

using Complex = std::complex<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_finite(Complex value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

// Bytes of C's element and, by `at`, of any operand's.
std::byte* element(Problem& problem, size_t at, int64_t row, int64_t column) {
  const hoist_blas_call& call = problem.call;
  std::vector<std::byte>* const memory[3] = {&problem.a, &problem.b, &problem.c};
  const int64_t leading[3] = {call.lda, call.ldb, call.ldc};
  return memory[at]->data() +
         static_cast<size_t>(row + column * leading[at]) * element_size(call.type);
}

Complex value(Problem& problem, size_t at, int64_t row, int64_t column) {
  return get(element(problem, at, row, column), problem.call.type);
}

class SpecialValues : public device::OnDevicesWithPool {
 protected:
  void SetUp() override {
    OnDevicesWithPool::SetUp();
    if (!IsSkipped()) transfer_ = std::make_unique<device::Transfer>(*pool_);
  }

  // Sizes about those of tiles, scalars and matrices for a call; in a triangle with little beside
  // the diagonal, so that solutions stay near 1.
  Problem make(hoist_blas_call call) {
    constexpr int64_t kExtents[] = {1, 2, 7, 16, 17, 31, 32, 33, 40};
    const auto extent = [&] { return kExtents[random_() % std::size(kExtents)]; };
    call.m = extent(), call.n = extent(), call.k = extent();
    if (is_rank_update(call)) call.m = call.n;
    const bool has_complex_scalars = is_complex(call) && call.routine != HOIST_BLAS_HERK;
    call.alpha[0] = 2;
    if (has_complex_scalars) call.alpha[1] = call.beta[1] = 1;
    if (is_triangular(call)) {
      call.beta[0] = call.beta[1] = 0;
    } else {
      call.beta[0] = 1;
    }
    const double extents = static_cast<double>(call.left ? call.m : call.n);
    return with_matrices(call, [&](size_t at, int64_t row, int64_t column) {
      const double scale = at != 0 || !is_triangular(call) || row == column ? 1 : 1 / extents;
      return scale * Complex(positive(), positive());
    });
  }

  static Problem without_beta(Problem problem) {
    problem.call.beta[0] = problem.call.beta[1] = 0;
    problem.point();
    return problem;
  }

  // In one panel or in many.
  void run_on_device(Problem& problem) {
    problem.point();
    ASSERT_EQ(reason_to_pass(problem.call), nullptr) << describe(problem.call);
    const Status done = run(problem.call, device(), *transfer_, panel_bytes_);
    ASSERT_TRUE(done) << done.error().message;
  }

  template <typename Body>
  void for_each_call(Body body) {
    for (const hoist_blas_routine routine : kRoutines) {
      for (const hoist_blas_call& call : calls_of(routine)) {
        panel_bytes_ = panel_bytes_ == kPanelBytes ? 1 + random_() % 4096 : kPanelBytes;
        body(make(call));
        if (HasFatalFailure()) return;
      }
    }
  }

  double positive() { return 0.5 + static_cast<double>(random_() % 1000) / 1000; }

  std::mt19937_64 random_{1};
  std::unique_ptr<device::Transfer> transfer_;
  uint64_t panel_bytes_ = kPanelBytes;
};
INSTANTIATE_TEST_SUITE_P(Gemm, SpecialValues, device::kTestDevices, device::device_name);

// NaN, or other garbage, wherever nothing is read: between columns, in the other triangle, on a
// diagonal of ones, in the imaginary part of a Hermitian diagonal, and in all of C where beta is 0.
void poison(Problem& problem, double garbage = kNan) {
  const hoist_blas_call& call = problem.call;
  const Plan plan = make_plan(call);
  for (size_t at = 0; at < 3; ++at) {
    const Operand& operand = plan.operands[at];
    for (int64_t j = 0; operand.rows > 0 && j < operand.columns; ++j) {
      for (int64_t i = 0; i < operand.rows + 2; ++i) {
        const Use use = use_of(call, plan, at, i, j);
        if (use == Use::all) continue;
        const double real = use == Use::nothing ? garbage : value(problem, at, i, j).real();
        put(element(problem, at, i, j), call.type, real, garbage);
      }
    }
  }
}

TEST_P(SpecialValues, WhatIsNotReadDoesNotCount) {
  for_each_call([&](const Problem& some) {
    for (Problem clean : {some, without_beta(some)}) {
      Problem poisoned = clean;
      poison(poisoned);
      Problem before = poisoned;
      run_on_device(clean);
      run_on_device(poisoned);
      if (HasFatalFailure()) return;
      ASSERT_EQ(poisoned.a, before.a);
      ASSERT_EQ(poisoned.b, before.b);
      for (int64_t j = 0; j < clean.call.n; ++j) {
        for (int64_t i = 0; i < clean.call.ldc; ++i) {
          const bool is_result = is_written(clean.call, i, j);
          std::byte* const expected = element(is_result ? clean : before, 2, i, j);
          if (is_result) {
            ASSERT_TRUE(is_finite(value(clean, 2, i, j))) << describe(clean.call);
          }
          ASSERT_EQ(
              std::memcmp(element(poisoned, 2, i, j), expected, element_size(clean.call.type)), 0)
              << describe(clean.call) << ", at " << i << ", " << j;
        }
      }
    }
  });
}

// An element that is not finite, of what the call reads of an operand.
struct Special {
  int64_t row = 0;
  int64_t column = 0;
  Complex value;
};

Special pick(Problem& problem, size_t at, std::mt19937_64& random) {
  const hoist_blas_call& call = problem.call;
  const Plan plan = make_plan(call);
  const Operand& operand = plan.operands[at];
  Special special;
  Use use = Use::nothing;
  for (int tries = 0; use == Use::nothing && tries < 100; ++tries) {
    special.row = static_cast<int64_t>(random() % static_cast<uint64_t>(operand.rows));
    special.column = static_cast<int64_t>(random() % static_cast<uint64_t>(operand.columns));
    use = use_of(call, plan, at, special.row, special.column);
  }
  if (use == Use::nothing) special.row = -1;  // ones are the whole triangle
  // An infinite divisor leaves 0.
  const bool is_divisor =
      call.routine == HOIST_BLAS_TRSM && at == 0 && special.row == special.column;
  const double not_finite[] = {kNan, kInfinity, -kInfinity};
  const double part = not_finite[is_divisor ? 0 : random() % 3];
  const bool is_imaginary = is_complex(call) && use == Use::all && random() % 2 == 0;
  special.value = is_imaginary ? Complex(1, part) : Complex(part, 1);
  return special;
}

TEST_P(SpecialValues, WhatIsReadReachesWhatDependsOnIt) {
  const bool is_cpu = device().properties().kind == device::DeviceKind::cpu;
  for_each_call([&](const Problem& some) {
    for (size_t at = 0; at < 3; ++at) {
      Problem clean = some;
      const hoist_blas_call& call = clean.call;
      if (make_plan(call).operands[at].rows == 0) continue;
      const Special special = pick(clean, at, random_);
      if (special.row < 0) continue;
      Problem problem = clean;
      put(element(problem, at, special.row, special.column), call.type, special.value.real(),
          special.value.imag());
      run_on_device(clean);
      run_on_device(problem);
      if (HasFatalFailure()) return;
      for (int64_t j = 0; j < call.n; ++j) {
        for (int64_t i = 0; i < call.m; ++i) {
          const Complex result = value(problem, 2, i, j);
          const bool is_reached = depends(call, at, special.row, special.column, i, j);
          if (is_reached) {
            ASSERT_FALSE(is_finite(result))
                << describe(call) << ", operand " << at << " at " << special.row << ", "
                << special.column << ", result at " << i << ", " << j;
          }
          // A GPU may multiply by the zeros beside a triangle too, for all that A is multiplied
          // with; what lies in another row (column) of C has nothing to do with it.
          const bool is_apart = at == 2 && (call.left ? j != special.column : i != special.row);
          if (is_reached || (!is_cpu && is_triangular(call) && !is_apart)) continue;
          ASSERT_EQ(result, value(clean, 2, i, j))
              << describe(call) << ", operand " << at << " at " << special.row << ", "
              << special.column << ", result at " << i << ", " << j;
        }
      }
    }
  });
}

TEST_P(SpecialValues, ScalarsThatAreNanReachAllOfTheResult) {
  for_each_call([&](const Problem& some) {
    for (const bool is_alpha : {true, false}) {
      if (!is_alpha && is_triangular(some.call)) continue;
      Problem problem = some;
      (is_alpha ? problem.call.alpha : problem.call.beta)[0] = kNan;
      run_on_device(problem);
      if (HasFatalFailure()) return;
      for (int64_t j = 0; j < problem.call.n; ++j) {
        for (int64_t i = 0; i < problem.call.m; ++i) {
          ASSERT_EQ(is_finite(value(problem, 2, i, j)), !is_written(problem.call, i, j))
              << describe(problem.call) << ", at " << i << ", " << j;
        }
      }
    }
  });
}

TEST_P(SpecialValues, AHermitianDiagonalIsReal) {
  for_each_call([&](Problem problem) {
    if (problem.call.routine != HOIST_BLAS_HERK) return;
    for (const double alpha : {-1.0, 1.0}) {
      problem.call.alpha[0] = alpha;
      run_on_device(problem);
      if (HasFatalFailure()) return;
      for (int64_t i = 0; i < problem.call.n; ++i) {
        ASSERT_EQ(value(problem, 2, i, i).imag(), 0) << describe(problem.call);
      }
    }
    if (device().properties().kind != device::DeviceKind::cpu) return;
    problem.call.alpha[0] = kInfinity;  // as of a number, not of a complex one
    run_on_device(problem);
    for (int64_t i = 0; i < problem.call.n; ++i) {
      ASSERT_EQ(value(problem, 2, i, i).imag(), 0) << describe(problem.call);
    }
  });
}

// Neither what is not read nor one row that is not finite makes --verify accept anything.
TEST_P(SpecialValues, VerificationSeesBesideThem) {
  int refusals = 0;
  for_each_call([&](Problem problem) {
    const hoist_blas_call& call = problem.call;
    if (call.routine == HOIST_BLAS_TRSM) return;
    poison(problem, refusals % 2 == 0 ? kNan : 1e30);
    const Special special = pick(problem, 0, random_);
    if (!is_triangular(call)) {  // see above of zeros beside a triangle
      put(element(problem, 0, special.row, special.column), call.type, special.value.real(),
          special.value.imag());
    }
    problem.point();
    Verification accepted(call);
    Verification refused(call);
    run_on_device(problem);
    if (HasFatalFailure()) return;
    ASSERT_TRUE(accepted.is_same(kReferenceOriginal)) << describe(call);
    for (int64_t j = 0; j < call.n; ++j) {
      for (int64_t i = 0; i < call.m; ++i) {
        if (!is_written(call, i, j) || !is_finite(value(problem, 2, i, j))) continue;
        put(element(problem, 2, i, j), call.type, 1e4, 0);
        ASSERT_FALSE(refused.is_same(kReferenceOriginal)) << describe(call);
        ++refusals;
        return;
      }
    }
  });
  EXPECT_GT(refusals, 100);
}

// A and B are not read then: the program's BLAS does that.
TEST(Check, AlphaZeroIsNoProduct) {
  for (const hoist_blas_routine routine : kRoutines) {
    for (hoist_blas_call call : calls_of(routine)) {
      call.m = call.n = call.k = 8;
      for (const double zero : {0.0, -0.0}) {
        for (const double beta : {0.0, 1.0, kNan}) {
          call.alpha[0] = zero;
          call.beta[0] = beta;
          const Problem problem = with_matrices(
              call, [](size_t at, int64_t, int64_t) { return Complex(at == 2 ? 1 : kNan); });
          ASSERT_STREQ(reason_to_pass(problem.call), "no product to compute") << describe(call);
        }
      }
      call.alpha[0] = kNan;
      const Problem problem =
          with_matrices(call, [](size_t, int64_t, int64_t) { return Complex(1); });
      ASSERT_EQ(reason_to_pass(problem.call), nullptr) << describe(call);
    }
  }
}

}  // namespace
}  // namespace hoist::gemm
