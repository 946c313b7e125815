#include "ops/gemm/plan.h"

#include <algorithm>
#include <optional>

namespace hoist::gemm {
namespace {

// A kernel on narrower panels leaves the device idle.
constexpr int64_t kLeastPanel = 256;
constexpr int64_t kMostPanels = 32;

bool is_zero(const double (&scalar)[2]) { return scalar[0] == 0 && scalar[1] == 0; }

int64_t extent_of(const hoist_blas_call& call, Axis axis) {
  switch (axis) {
    case Axis::m:
      return call.m;
    case Axis::n:
      return call.n;
    case Axis::k:
      return call.k;
    default:
      return call.batch.count;
  }
}

Operand operand(const void* data, int64_t leading, Axis rows, Axis columns,
                const hoist_blas_call& call) {
  return {.data = static_cast<std::byte*>(const_cast<void*>(data)),
          .rows = extent_of(call, rows),
          .columns = extent_of(call, columns),
          .leading = leading,
          .row_axis = rows,
          .column_axis = columns};
}

// Gives each product of the batch its matrix; where all have the same, it is one.
void spread(Operand& operand, const hoist_blas_items& items, const hoist_blas_call& call) {
  operand.items = items.items;
  operand.stride = items.stride * static_cast<int64_t>(element_size(call.type));
  if (items.items == nullptr) {  // and there may be no data yet (served_gemm.cc)
    if (operand.stride != 0) operand.count = call.batch.count;
    return;
  }
  operand.data = operand.item(0);
  for (int64_t at = 1; at < call.batch.count && operand.count == 1; ++at) {
    if (operand.item(at) != operand.data) operand.count = call.batch.count;
  }
}

// The matrices of the call with what indexes them.
std::array<Operand, 3> operands_of(const hoist_blas_call& call) {
  const bool is_plain_a = call.trans_a == 'N';
  std::array<Operand, 3> operands;
  auto& [a, b, c] = operands;
  c = operand(call.c, call.ldc, Axis::m, Axis::n, call);
  const Axis side = call.left ? Axis::m : Axis::n;
  switch (call.routine) {
    case HOIST_BLAS_GEMM: {
      const bool is_plain_b = call.trans_b == 'N';
      a = operand(call.a, call.lda, is_plain_a ? Axis::m : Axis::k, is_plain_a ? Axis::k : Axis::m,
                  call);
      b = operand(call.b, call.ldb, is_plain_b ? Axis::k : Axis::n, is_plain_b ? Axis::n : Axis::k,
                  call);
      break;
    }
    case HOIST_BLAS_SYMM:
    case HOIST_BLAS_HEMM:
      a = operand(call.a, call.lda, side, side, call);
      b = operand(call.b, call.ldb, Axis::m, Axis::n, call);
      break;
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK:
      a = operand(call.a, call.lda, is_plain_a ? Axis::n : Axis::k, is_plain_a ? Axis::k : Axis::n,
                  call);
      c = operand(call.c, call.ldc, Axis::n, Axis::n, call);
      break;
    case HOIST_BLAS_TRMM:
    case HOIST_BLAS_TRSM:
      a = operand(call.a, call.lda, side, side, call);
      break;
  }
  if (call.batch.count > 1) {
    spread(a, call.batch.a, call);
    spread(b, call.batch.b, call);
    spread(c, call.batch.c, call);
    c.count = call.batch.count;  // each has its own: check.h
  }
  c.is_written = true;
  // beta = 0: C need not be set on entry, and what it holds, NaN too, does not count.
  const bool is_in_place = call.routine == HOIST_BLAS_TRMM || call.routine == HOIST_BLAS_TRSM;
  c.is_read = is_in_place || !is_zero(call.beta);
  return operands;
}

// The axes along which panels of the result, or of a sum, are independent.
std::vector<Axis> cuttable(const hoist_blas_call& call) {
  if (call.batch.count > 1) return {Axis::batch};
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      return {Axis::n, Axis::m, Axis::k};
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK:
      return {Axis::k};
    default:
      return {call.left ? Axis::n : Axis::m};
  }
}

uint64_t traffic(const Plan& plan, const Operand& operand) {
  if (operand.data == nullptr) return 0;
  return plan.bytes(operand) * ((operand.is_read ? 1U : 0U) + (operand.is_written ? 1U : 0U));
}

}  // namespace

size_t element_size(char type) {
  switch (type) {
    case 's':
      return 4;
    case 'z':
      return 16;
    default:
      return 8;
  }
}

hoist_blas_call product(const hoist_blas_call& call, int64_t index) {
  const auto place = [&](const void* first, const hoist_blas_items& items) -> const void* {
    const auto stride = items.stride * static_cast<int64_t>(element_size(call.type));
    if (items.items != nullptr) return items.items[index];
    return static_cast<const std::byte*>(first) + index * stride;
  };
  hoist_blas_call one = call;
  one.batch = {};
  if (call.batch.count <= 1) return one;
  one.a = place(call.a, call.batch.a);
  one.b = place(call.b, call.batch.b);
  one.c = const_cast<void*>(place(call.c, call.batch.c));
  return one;
}

double operation_count(const hoist_blas_call& call) {
  const auto m = static_cast<double>(call.m);
  const auto n = static_cast<double>(call.n);
  const auto k = static_cast<double>(call.k);
  const double complex =
      (call.type == 'c' || call.type == 'z' ? 4 : 1) * static_cast<double>(product_count(call));
  switch (call.routine) {
    case HOIST_BLAS_GEMM:
      return 2 * m * n * k * complex;
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK:
      return n * (n + 1) * k * complex;
    case HOIST_BLAS_SYMM:
    case HOIST_BLAS_HEMM:
      return 2 * m * n * (call.left ? m : n) * complex;
    default:
      return m * n * (call.left ? m : n) * complex;
  }
}

uint64_t transfer_bytes(const hoist_blas_call& call) {
  Plan plan;
  plan.element = element_size(call.type);
  uint64_t bytes = 0;
  for (const Operand& operand : operands_of(call)) bytes += traffic(plan, operand);
  return bytes;
}

Plan make_plan(const hoist_blas_call& call, uint64_t panel_bytes) {
  Plan plan;
  plan.element = element_size(call.type);
  plan.operands = operands_of(call);
  // The axis that hides most of the traffic behind other work. Along k all panels add to the whole
  // of C, whose way back is then not hidden.
  uint64_t most = 0;
  for (const Axis axis : cuttable(call)) {
    uint64_t bytes = 0;
    for (const Operand& operand : plan.operands) {
      const bool is_cut = axis == Axis::batch
                              ? operand.count > 1
                              : operand.row_axis == axis || operand.column_axis == axis;
      if (is_cut) {
        bytes += traffic(plan, operand);
      }
    }
    if (bytes <= most) continue;
    most = bytes;
    plan.axis = axis;
    plan.extent = extent_of(call, axis);
  }
  const auto wanted = static_cast<int64_t>(
      std::min<uint64_t>(most / std::max<uint64_t>(panel_bytes, 1), kMostPanels));
  // Small panels are for tests.
  const int64_t least = panel_bytes < kPanelBytes || plan.axis == Axis::batch ? 1 : kLeastPanel;
  const int64_t panels = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(plan.extent / least, 1));
  plan.panel = plan.extent / panels + (plan.extent % panels != 0 ? 1 : 0);
  plan.panels = plan.panel == 0 ? 1 : (plan.extent + plan.panel - 1) / plan.panel;
  plan.is_cut = plan.panels > 1;
  return plan;
}

Cut Plan::cut(const Operand& operand, int64_t index) const {
  Cut cut = {.items = operand.count, .rows = operand.rows, .columns = operand.columns};
  if (!is_cut_operand(operand)) return cut;
  const int64_t first = index * panel;
  const int64_t count = std::min(panel, extent - first);
  if (axis == Axis::batch) {
    cut.item = first;
    cut.items = count;
  } else if (operand.row_axis == axis) {
    cut.row = first;
    cut.rows = count;
  } else {
    cut.column = first;
    cut.columns = count;
  }
  return cut;
}

hoist_blas_call Plan::panel_call(const hoist_blas_call& call, int64_t index,
                                 const std::array<void*, 3>& data) const {
  hoist_blas_call part = call;
  const int64_t count = is_cut ? std::min(panel, extent - index * panel) : extent;
  if (is_cut && axis != Axis::batch) {
    (axis == Axis::m ? part.m : axis == Axis::n ? part.n : part.k) = count;
  }
  if (is_cut && axis == Axis::k && index > 0) {  // adds to what the panels before it left
    part.beta[0] = 1;
    part.beta[1] = 0;
  }
  part.a = data[0];
  part.b = data[1];
  part.c = data[2];
  const auto leading = [&](const Operand& operand) {
    return std::max<int64_t>(cut(operand, index).rows, 1);
  };
  part.lda = leading(operands[0]);
  part.ldb = leading(operands[1]);
  part.ldc = leading(operands[2]);
  const auto stride = [&](const Operand& operand) -> hoist_blas_items {
    return {.items = nullptr, .stride = operand.count > 1 ? operand.rows * operand.columns : 0};
  };
  part.batch.count = axis == Axis::batch ? count : 1;
  part.batch.a = stride(operands[0]);
  part.batch.b = stride(operands[1]);
  part.batch.c = stride(operands[2]);
  return part;
}

}  // namespace hoist::gemm
