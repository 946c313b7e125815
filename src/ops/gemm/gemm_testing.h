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
#include "ops/gemm/reference.h"

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

inline std::complex<double> get(const std::byte* at, char type) {
  float single[2] = {};
  double both[2] = {};
  const bool is_single = type == 's' || type == 'c';
  std::memcpy(is_single ? static_cast<void*>(single) : both, at, element_size(type));
  return is_single ? std::complex<double>(single[0], single[1])
                   : std::complex<double>(both[0], both[1]);
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

// A batch of one shape with exact results: by pointers in any order, or by strides, with matrices
// that all products share or not, and space between them that nothing may touch.
class BatchMaker {
 public:
  BatchMaker(uint64_t seed, int64_t largest, int64_t most)
      : random_(seed), largest_(largest), most_(most) {}

  struct Batch {
    hoist_blas_call call = {};
    std::vector<std::byte> memory[3];
    std::vector<const void*> items[3];

    // After a copy: makes the call's pointers these, as the memory of `from` was pointed at.
    void point(const Batch& from) {
      const void** const first[3] = {&call.a, &call.b, const_cast<const void**>(&call.c)};
      hoist_blas_items* const all[3] = {&call.batch.a, &call.batch.b, &call.batch.c};
      for (size_t at = 0; at < 3; ++at) {
        const auto moved = [&](const void* was) -> const void* {
          return memory[at].data() + (static_cast<const std::byte*>(was) - from.memory[at].data());
        };
        *first[at] = moved(*first[at]);
        for (const void*& item : items[at]) item = moved(item);
        if (!items[at].empty()) all[at]->items = items[at].data();
      }
    }
  };

  Batch make() {
    Batch batch;
    hoist_blas_call& call = batch.call;
    call.routine = HOIST_BLAS_GEMM;
    call.type = "sdcz"[pick(4)];
    call.trans_a = "NTC"[pick(3)];
    call.trans_b = "NTC"[pick(3)];
    call.m = extent(), call.n = extent(), call.k = extent();
    call.alpha[0] = 2;
    call.beta[0] = static_cast<double>(pick(2));
    call.batch.count = 1 + static_cast<int64_t>(pick(static_cast<uint64_t>(most_)));
    const bool plain_a = call.trans_a == 'N';
    const bool plain_b = call.trans_b == 'N';
    const void* first[3];
    first[0] = place(batch, 0, plain_a ? call.m : call.k, plain_a ? call.k : call.m, call.lda,
                     call.batch.a);
    first[1] = place(batch, 1, plain_b ? call.k : call.n, plain_b ? call.n : call.k, call.ldb,
                     call.batch.b);
    first[2] = place(batch, 2, call.m, call.n, call.ldc, call.batch.c);
    call.a = first[0], call.b = first[1], call.c = const_cast<void*>(first[2]);
    return batch;
  }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }
  int64_t extent() { return 1 + static_cast<int64_t>(pick(static_cast<uint64_t>(largest_))); }

  const void* place(Batch& batch, size_t at, int64_t rows, int64_t columns, int64_t& leading,
                    hoist_blas_items& items) {
    leading = rows + static_cast<int64_t>(pick(3));
    const int64_t count = batch.call.batch.count;
    const bool is_shared = at < 2 && pick(3) == 0;
    const size_t element = element_size(batch.call.type);
    const auto stride = leading * columns + static_cast<int64_t>(pick(5));
    std::vector<std::byte>& memory = batch.memory[at];
    memory.resize(static_cast<size_t>(stride * count) * element);
    for (size_t byte = 0; byte < memory.size(); byte += element) {
      put(memory.data() + byte, batch.call.type, static_cast<double>(pick(7)) - 3,
          static_cast<double>(pick(7)) - 3);
    }
    const auto item = [&](int64_t index) {
      return memory.data() + static_cast<size_t>(index * stride) * element;
    };
    if (pick(2) == 0) {
      const bool is_backward = pick(4) == 0 && !is_shared;
      items.stride = is_shared ? 0 : is_backward ? -stride : stride;
      return item(is_backward ? count - 1 : 0);
    }
    for (int64_t index = 0; index < count; ++index) {
      batch.items[at].push_back(item(is_shared ? 0 : count - 1 - index));
    }
    items.items = batch.items[at].data();
    return batch.items[at].front();
  }

  std::mt19937_64 random_;
  int64_t largest_;
  int64_t most_;
};

// What stands for the program's BLAS.
inline const hoist_blas_original kReferenceOriginal = {
    [](const hoist_blas_original*, const hoist_blas_call* call) { run_reference(*call); }};

}  // namespace hoist::gemm
