#include "ops/gemm/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 31;
constexpr const char* kParameters = "parameters that BLAS reports";

bool is_one_of(char value, const char* allowed) {
  return value != '\0' && std::strchr(allowed, value) != nullptr;
}

bool is_complex(const hoist_blas_call& call) { return call.type == 'c' || call.type == 'z'; }

const char* check_parameters(const hoist_blas_call& call) {
  if (!is_one_of(call.type, "sdcz") || !is_one_of(call.trans_a, "NTC")) return kParameters;
  if (std::min({call.m, call.n, call.k}) < 0) return kParameters;
  if (std::max({call.m, call.n, call.k, call.lda, call.ldb, call.ldc}) > kMostExtent) {
    return "matrix too large";
  }
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      return is_one_of(call.trans_b, "NTC") ? nullptr : kParameters;
    case HOIST_BLAS_HEMM:
      return is_complex(call) ? nullptr : kParameters;
    case HOIST_BLAS_SYRK:
      return is_complex(call) && call.trans_a == 'C' ? kParameters : nullptr;
    case HOIST_BLAS_HERK:
      return !is_complex(call) || call.trans_a == 'T' ? kParameters : nullptr;
    default:
      return nullptr;
  }
}

// The memory that an operand spans: `row_bytes` at each multiple of `pitch` from `first` on.
struct Span {
  uintptr_t first = 0;
  uintptr_t last = 0;
  uintptr_t row_bytes = 0;
  uintptr_t pitch = 0;
};

// Sub-matrices of one array, as factorisations take them, may lie in the same columns.
bool overlap(const Span& left, const Span& right) {
  if (left.first >= right.last || right.first >= left.last) return false;
  if (left.pitch != right.pitch) return true;
  const Span& low = left.first <= right.first ? left : right;
  const Span& high = left.first <= right.first ? right : left;
  const uintptr_t shift = (high.first - low.first) % low.pitch;
  return shift < low.row_bytes || shift + high.row_bytes > low.pitch;
}

}  // namespace

const char* reason_to_pass(const hoist_blas_call& call) {
  if (const char* reason = check_parameters(call)) return reason;
  const auto is_zero = [](const double(&scalar)[2]) { return scalar[0] == 0 && scalar[1] == 0; };
  const bool has_depth = call.routine == HOIST_BLAS_GEMM || call.routine == HOIST_BLAS_SYRK ||
                         call.routine == HOIST_BLAS_HERK;
  if (call.m == 0 || call.n == 0 || (has_depth && call.k == 0) || is_zero(call.alpha)) {
    return "no product to compute";
  }
  const Plan plan = make_plan(call);
  Span spans[3];
  for (size_t at = 0; at < plan.operands.size(); ++at) {
    const Operand& operand = plan.operands[at];
    const bool is_used = operand.rows > 0;
    if (!is_used) continue;
    if (operand.data == nullptr || operand.leading < operand.rows) return kParameters;
    const auto elements = static_cast<unsigned __int128>(operand.leading) *
                              static_cast<uint64_t>(operand.columns - 1) +
                          static_cast<uint64_t>(operand.rows);
    const auto bytes = elements * plan.element;
    const auto first = reinterpret_cast<uintptr_t>(operand.data);
    if (bytes > UINTPTR_MAX - first) return "matrix too large";
    spans[at] = {first, first + static_cast<uintptr_t>(bytes),
                 static_cast<uintptr_t>(operand.rows) * plan.element,
                 static_cast<uintptr_t>(operand.leading) * plan.element};
  }
  if (overlap(spans[2], spans[0]) || overlap(spans[2], spans[1])) return "matrices overlap";
  return nullptr;
}

}  // namespace hoist::gemm
