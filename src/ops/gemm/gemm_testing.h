// Random calls for tests. All values are small integers, and divisors one or minus one, so that
// every sum is exact and results must be the same to the last bit, in whatever order they are
// summed (solutions grow: of small systems only).
#pragma once

#include <complex>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include "ops/gemm/call.h"
#include "ops/gemm/plan.h"

namespace hoist::gemm {

// A call with the memory of its matrices.
struct Problem {
  hoist_blas_call call = {};
  std::vector<std::byte> a;
  std::vector<std::byte> b;
  std::vector<std::byte> c;

  // After a copy: makes the call's pointers these.
  void point() {
    call.a = a.data();
    call.b = b.empty() ? nullptr : b.data();
    call.c = c.data();
  }
};

inline void put(std::byte* at, char type, double real, double imaginary) {
  const float single[2] = {static_cast<float>(real), static_cast<float>(imaginary)};
  const double both[2] = {real, imaginary};
  const bool is_single = type == 's' || type == 'c';
  std::memcpy(at, is_single ? static_cast<const void*>(single) : both, element_size(type));
}

class ProblemMaker {
 public:
  ProblemMaker(uint64_t seed, int64_t largest) : random_(seed), largest_(largest) {}

  Problem make() {
    Problem problem;
    hoist_blas_call& call = problem.call;
    call.type = "sdcz"[pick(4)];
    const bool is_complex = call.type == 'c' || call.type == 'z';
    call.routine = static_cast<hoist_blas_routine>(pick(HOIST_BLAS_TRSM + 1));
    if (!is_complex && call.routine == HOIST_BLAS_HEMM) call.routine = HOIST_BLAS_SYMM;
    if (!is_complex && call.routine == HOIST_BLAS_HERK) call.routine = HOIST_BLAS_SYRK;
    call.trans_a = "NTC"[pick(3)];
    call.trans_b = "NTC"[pick(3)];
    if (call.routine == HOIST_BLAS_SYRK && is_complex) call.trans_a = "NT"[pick(2)];
    if (call.routine == HOIST_BLAS_HERK) call.trans_a = "NC"[pick(2)];
    call.left = pick(2) == 0;
    call.upper = pick(2) == 0;
    call.unit = pick(2) == 0;
    call.m = extent();
    call.n = extent();
    call.k = extent();
    const bool is_rank_update = call.routine == HOIST_BLAS_SYRK || call.routine == HOIST_BLAS_HERK;
    if (is_rank_update) call.m = call.n;
    type_ = call.type;
    scalar(call.alpha, is_complex && call.routine != HOIST_BLAS_HERK);
    if (pick(3) != 0) scalar(call.beta, is_complex && call.routine != HOIST_BLAS_HERK);
    problem.point();
    const Plan plan = make_plan(call);  // for the matrices' shapes
    call.lda = fill(plan.operands[0], plan.operands[0].row_axis == plan.operands[0].column_axis,
                    problem.a);
    call.ldb = fill(plan.operands[1], false, problem.b);
    call.ldc = fill(plan.operands[2], false, problem.c);
    problem.point();
    return problem;
  }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }
  int64_t extent() { return 1 + static_cast<int64_t>(pick(static_cast<uint64_t>(largest_))); }
  double small() { return static_cast<double>(pick(7)) - 3; }

  void scalar(double (&value)[2], bool is_complex) {
    value[0] = pick(2) == 0 ? 1 : 2;
    if (is_complex) value[1] = small();
  }

  // Integers in all of it, between columns too; with a diagonal that divides exactly.
  int64_t fill(const Operand& operand, bool has_diagonal, std::vector<std::byte>& memory) {
    if (operand.rows == 0) return 0;
    const auto leading = operand.rows + static_cast<int64_t>(pick(3));
    const size_t element = element_size(type_);
    memory.resize(static_cast<size_t>(leading * operand.columns) * element);
    for (int64_t j = 0; j < operand.columns; ++j) {
      for (int64_t i = 0; i < leading; ++i) {
        std::byte* const at = memory.data() + static_cast<size_t>(i + j * leading) * element;
        if (has_diagonal && i == j) {
          put(at, type_, pick(2) == 0 ? 1 : -1, 0);
        } else {
          put(at, type_, small(), small());
        }
      }
    }
    return leading;
  }

  std::mt19937_64 random_;
  int64_t largest_;
  char type_ = 'd';
};

}  // namespace hoist::gemm
