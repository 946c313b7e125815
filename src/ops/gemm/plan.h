// How a call's matrices travel: which are needed whole before the first computation, and along
// which dimension the others are cut into panels, so that one panel is on its way to the device,
// one is computed and one is on its way back at the same time.
//
//                 k          n: panels of B and C
//              ┌─────┐    ┌──┬──┬──┬──┐          upload    A  B0 B1 B2 B3
//            m │  A  │  k │B0│B1│B2│B3│          compute         0  1  2  3
//              └─────┘    └──┴──┴──┴──┘          download           C0 C1 C2 C3
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/gemm/call.h"

namespace hoist::gemm {

// A dimension of the problem, as it indexes the rows or the columns of a matrix, or whole matrices.
enum class Axis : uint8_t { m, n, k, batch };

// One matrix of a call, or one for each product of a batch, column-major, as the program holds
// them.
struct Operand {
  std::byte* data = nullptr;  // null: the call has none
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t leading = 0;  // elements from one column to the next
  Axis row_axis = Axis::m;
  Axis column_axis = Axis::n;
  bool is_read = true;
  bool is_written = false;
  int64_t count = 1;  // of matrices; 1 in a batch too, where all products have the same
  const void* const* items = nullptr;  // where they are; null: `stride` bytes from one to the next
  int64_t stride = 0;

  // The place of matrix `index`.
  std::byte* item(int64_t index) const {
    if (items != nullptr) return static_cast<std::byte*>(const_cast<void*>(items[index]));
    return data + index * stride;
  }
};

// The cut of an operand that belongs to one panel: a part of a matrix, or some of a batch's.
struct Cut {
  int64_t item = 0;
  int64_t items = 1;
  int64_t row = 0;
  int64_t column = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct Plan {
  size_t element = 0;               // bytes
  std::array<Operand, 3> operands;  // a, b, c
  bool is_cut = false;              // else one panel is all
  Axis axis = Axis::n;              // that panels are cut along
  int64_t extent = 0;               // of it
  int64_t panel = 0;                // of it in a panel; the last may have less
  int64_t panels = 1;

  // Whether there is one piece of it a panel; else it is needed whole.
  bool is_cut_operand(const Operand& operand) const {
    if (axis == Axis::batch) return is_cut && operand.count > 1;
    return is_cut && (operand.row_axis == axis || operand.column_axis == axis);
  }
  // What of `operand` panel `index` uses.
  Cut cut(const Operand& operand, int64_t index) const;
  // The call on the panel's cuts alone: `data` are their places, packed (leading dimension = rows).
  hoist_blas_call panel_call(const hoist_blas_call& call, int64_t index,
                             const std::array<void*, 3>& data) const;
  uint64_t bytes(const Operand& operand) const {
    return static_cast<uint64_t>(operand.rows) * static_cast<uint64_t>(operand.columns) *
           static_cast<uint64_t>(operand.count) * element;
  }
};

size_t element_size(char type);

inline int64_t product_count(const hoist_blas_call& call) {
  return call.batch.count > 1 ? call.batch.count : 1;
}
// One product of a batch, a call by itself.
hoist_blas_call product(const hoist_blas_call& call, int64_t index);

// Real operations, additions and multiplications, that the call takes.
double operation_count(const hoist_blas_call& call);
// Bytes that go to the device and back.
uint64_t transfer_bytes(const hoist_blas_call& call);

// Bytes of cut operands in a panel, about: enough that a transfer runs at the link's speed.
inline constexpr uint64_t kPanelBytes = uint64_t{32} << 20;

// `call` has been checked (check.h).
Plan make_plan(const hoist_blas_call& call, uint64_t panel_bytes = kPanelBytes);

}  // namespace hoist::gemm
