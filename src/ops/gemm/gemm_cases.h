// Every routine with every type, transpose, side, triangle and diagonal, and which elements of the
// matrices a call reads and writes, by the standard (call.h).
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "ops/gemm/gemm_testing.h"

namespace hoist::gemm {

inline bool is_complex(const hoist_blas_call& call) { return call.type == 'c' || call.type == 'z'; }
inline bool is_rank_update(const hoist_blas_call& call) {
  return call.routine == HOIST_BLAS_SYRK || call.routine == HOIST_BLAS_HERK;
}
inline bool is_triangular(const hoist_blas_call& call) {
  return call.routine == HOIST_BLAS_TRMM || call.routine == HOIST_BLAS_TRSM;
}

// Calls of it without sizes, scalars and matrices.
inline std::vector<hoist_blas_call> calls_of(hoist_blas_routine routine) {
  std::vector<hoist_blas_call> calls;
  const auto takes = [&](const hoist_blas_call& call) {
    const bool is_gemm = routine == HOIST_BLAS_GEMM;
    const bool is_symmetric = routine == HOIST_BLAS_SYMM || routine == HOIST_BLAS_HEMM;
    if (routine == HOIST_BLAS_HEMM && !is_complex(call)) return false;
    if (routine == HOIST_BLAS_HERK && (!is_complex(call) || call.trans_a == 'T')) return false;
    if (routine == HOIST_BLAS_SYRK && is_complex(call) && call.trans_a == 'C') return false;
    // What the routine has no such option for comes once.
    return (!is_symmetric || call.trans_a == 'N') && (is_gemm || call.trans_b == 'N') &&
           (is_symmetric || is_triangular(call) || call.left) && (!is_gemm || call.upper) &&
           (is_triangular(call) || !call.unit);
  };
  for (const char type : {'s', 'd', 'c', 'z'}) {
    for (int options = 0; options < 9 * 8; ++options) {
      hoist_blas_call call = {};
      call.routine = routine;
      call.type = type;
      call.trans_a = "NTC"[options / 8 % 3];
      call.trans_b = "NTC"[options / 24];
      call.left = (options & 1) == 0;
      call.upper = (options & 2) == 0;
      call.unit = (options & 4) != 0;
      if (takes(call)) calls.push_back(call);
    }
  }
  return calls;
}

inline constexpr hoist_blas_routine kRoutines[] = {
    HOIST_BLAS_GEMM, HOIST_BLAS_SYMM, HOIST_BLAS_HEMM, HOIST_BLAS_SYRK,
    HOIST_BLAS_HERK, HOIST_BLAS_TRMM, HOIST_BLAS_TRSM};

inline std::string describe(const hoist_blas_call& call) {
  constexpr const char* kNames[] = {"gemm", "symm", "hemm", "syrk", "herk", "trmm", "trsm"};
  return std::string(1, call.type) + kNames[call.routine] + " trans " + call.trans_a +
         call.trans_b + (call.left ? " left" : " right") + (call.upper ? " upper" : " lower") +
         (call.unit ? " unit " : " ") + std::to_string(call.m) + "x" + std::to_string(call.n) +
         "x" + std::to_string(call.k) + " beta " + std::to_string(call.beta[0]);
}

// Allocates the matrices of a call that has its sizes, with room between the columns, and fills
// each element by `value(operand, row, column)`.
template <typename Value>
Problem with_matrices(const hoist_blas_call& call, Value value) {
  Problem problem;
  problem.call = call;
  std::vector<std::byte>* const memory[3] = {&problem.a, &problem.b, &problem.c};
  int64_t* const leading[3] = {&problem.call.lda, &problem.call.ldb, &problem.call.ldc};
  const Plan plan = make_plan(call);
  for (size_t at = 0; at < 3; ++at) {
    const Operand& operand = plan.operands[at];
    if (operand.rows == 0) continue;
    *leading[at] = operand.rows + 2;
    memory[at]->resize(static_cast<size_t>(*leading[at] * operand.columns) * plan.element);
    for (int64_t j = 0; j < operand.columns; ++j) {
      for (int64_t i = 0; i < *leading[at]; ++i) {
        const std::complex<double> element = value(at, i, j);
        put(memory[at]->data() + static_cast<size_t>(i + j * *leading[at]) * plan.element,
            call.type, element.real(), element.imag());
      }
    }
  }
  problem.point();
  return problem;
}

// Whether `row`, `column` is in the triangle that counts.
inline bool is_in_triangle(const hoist_blas_call& call, int64_t row, int64_t column) {
  return call.upper ? row <= column : row >= column;
}

inline bool is_written(const hoist_blas_call& call, int64_t row, int64_t column) {
  return row < call.m && (!is_rank_update(call) || is_in_triangle(call, row, column));
}

// What of an element a call reads; rows from the matrix's own on are those between columns.
enum class Use : uint8_t { nothing, real_part, all };

inline Use use_of(const hoist_blas_call& call, const Plan& plan, size_t at, int64_t row,
                  int64_t column) {
  const Operand& operand = plan.operands[at];
  if (row >= operand.rows || !operand.is_read) return Use::nothing;
  const bool is_a_of_one = at == 0 && call.routine != HOIST_BLAS_GEMM && !is_rank_update(call);
  if (!is_a_of_one && !(at == 2 && is_rank_update(call))) return Use::all;
  if (!is_in_triangle(call, row, column)) return Use::nothing;
  if (row != column) return Use::all;
  if (is_triangular(call)) return call.unit ? Use::nothing : Use::all;
  const bool is_hermitian = call.routine == HOIST_BLAS_HEMM || call.routine == HOIST_BLAS_HERK;
  return is_hermitian ? Use::real_part : Use::all;
}

// Whether C's element `i`, `j` depends on the element `p`, `q` of an operand, which is read.
inline bool depends(const hoist_blas_call& call, size_t at, int64_t p, int64_t q, int64_t i,
                    int64_t j) {
  if (!is_written(call, i, j)) return false;
  const bool is_plain = call.trans_a == 'N';
  const int64_t index = call.left ? i : j;  // of what A is multiplied with
  // In op(A) C a row takes from those below it where op(A) is an upper triangle, and is known
  // after them; the columns of C op(A) the other way round.
  const bool is_downward = (call.upper == is_plain) != call.left;
  const auto is_behind = [&](int64_t first) {
    return is_downward ? index >= first : index <= first;
  };
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      if (at == 0) return i == (is_plain ? p : q);
      if (at == 1) return j == (call.trans_b == 'N' ? q : p);
      break;
    case HOIST_BLAS_SYMM:
    case HOIST_BLAS_HEMM:
      if (at == 0) return index == p || index == q;
      if (at == 1) return call.left ? j == q : i == p;
      break;
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK:
      if (at == 0) return i == (is_plain ? p : q) || j == (is_plain ? p : q);
      break;
    default: {
      if (at == 2) return (call.left ? j == q : i == p) && is_behind(call.left ? p : q);
      const int64_t to = call.left == is_plain ? p : q;
      return call.routine == HOIST_BLAS_TRMM ? index == to : is_behind(to);
    }
  }
  return i == p && j == q;
}

}  // namespace hoist::gemm
