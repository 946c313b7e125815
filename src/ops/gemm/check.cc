#include "ops/gemm/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 31;
constexpr int64_t kMostStride = int64_t{1} << 58;  // in bytes still a number
constexpr const char* kParameters = "parameters that BLAS reports";
constexpr const char* kTooLarge = "matrix too large";
constexpr const char* kOverlap = "matrices overlap";

bool is_one_of(char value, const char* allowed) {
  return value != '\0' && std::strchr(allowed, value) != nullptr;
}

bool is_complex(const hoist_blas_call& call) { return call.type == 'c' || call.type == 'z'; }

const char* check_parameters(const hoist_blas_call& call) {
  if (!is_one_of(call.type, "sdcz") || !is_one_of(call.trans_a, "NTC")) return kParameters;
  if (std::min({call.m, call.n, call.k}) < 0) return kParameters;
  if (std::max({call.m, call.n, call.k, call.lda, call.ldb, call.ldc}) > kMostExtent) {
    return kTooLarge;
  }
  if (call.batch.count > kMostExtent) return kTooLarge;
  for (const hoist_blas_items* const items : {&call.batch.a, &call.batch.b, &call.batch.c}) {
    if (call.batch.count <= 1) break;
    if (items->stride > kMostStride || items->stride < -kMostStride) return kTooLarge;
  }
  if (call.batch.count > 1 && call.routine != HOIST_BLAS_GEMM) return kParameters;
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

// What the operand's matrix `index` spans; nothing where that is no memory.
std::optional<Span> span_of(const Plan& plan, const Operand& operand, int64_t index) {
  const auto elements =
      static_cast<unsigned __int128>(operand.leading) * static_cast<uint64_t>(operand.columns - 1) +
      static_cast<uint64_t>(operand.rows);
  const auto bytes = elements * plan.element;
  const auto first = reinterpret_cast<uintptr_t>(operand.item(index));
  if (bytes > UINTPTR_MAX - first) return std::nullopt;
  return Span{first, first + static_cast<uintptr_t>(bytes),
              static_cast<uintptr_t>(operand.rows) * plan.element,
              static_cast<uintptr_t>(operand.leading) * plan.element};
}

// Adds what the operand's matrices span to `spans`, those of one stride in one piece. Null, or why
// not.
const char* add_spans(const Plan& plan, const Operand& operand, std::vector<Span>& spans) {
  const std::optional<Span> first = span_of(plan, operand, 0);
  if (!first) return kTooLarge;
  if (operand.items == nullptr) {
    const auto reach = static_cast<__int128>(operand.stride) * (operand.count - 1);
    const __int128 last = static_cast<__int128>(reach < 0 ? first->first : first->last) + reach;
    if (last < 0 || last > static_cast<__int128>(UINTPTR_MAX)) return kTooLarge;
    const auto end = static_cast<uintptr_t>(last);
    spans.push_back(reach < 0 ? Span{end, first->last} : Span{first->first, end});
    const auto size = static_cast<int64_t>(first->last - first->first);
    const bool is_apart = operand.stride >= size || operand.stride <= -size;
    return operand.is_written && operand.count > 1 && !is_apart ? kOverlap : nullptr;
  }
  for (int64_t at = 0; at < operand.count; ++at) {
    if (operand.item(at) == nullptr) return kParameters;
    const std::optional<Span> span = span_of(plan, operand, at);
    if (!span) return kTooLarge;
    spans.push_back(*span);
  }
  return nullptr;
}

// Null, or why not: a batch's results have to lie apart, as wholes, from one another and from all
// that is read.
const char* check_batch(const Plan& plan) {
  std::vector<Span> written;
  std::vector<Span> read;
  for (const Operand& operand : plan.operands) {
    const char* const reason = add_spans(plan, operand, operand.is_written ? written : read);
    if (reason != nullptr) return reason;
  }
  std::sort(written.begin(), written.end(),
            [](const Span& left, const Span& right) { return left.first < right.first; });
  for (size_t at = 1; at < written.size(); ++at) {
    if (written[at - 1].last > written[at].first) return kOverlap;
  }
  for (const Span& span : read) {
    // The first result that ends behind the beginning of what is read.
    const auto found =
        std::upper_bound(written.begin(), written.end(), span.first,
                         [](uintptr_t first, const Span& result) { return first < result.last; });
    if (found != written.end() && found->first < span.last) return kOverlap;
  }
  return nullptr;
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
  const bool is_batch = call.batch.count > 1;
  const Plan plan = make_plan(call);
  Span spans[3];
  for (size_t at = 0; at < plan.operands.size(); ++at) {
    const Operand& operand = plan.operands[at];
    const bool is_used = operand.rows > 0;
    if (!is_used) continue;
    if (operand.data == nullptr || operand.leading < operand.rows) return kParameters;
    if (is_batch) continue;
    const std::optional<Span> span = span_of(plan, operand, 0);
    if (!span) return kTooLarge;
    spans[at] = *span;
  }
  if (is_batch) return check_batch(plan);
  return overlap(spans[2], spans[0]) || overlap(spans[2], spans[1]) ? kOverlap : nullptr;
}

}  // namespace hoist::gemm
