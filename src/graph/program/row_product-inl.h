// One row times a large matrix. Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_ROW_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_ROW_PRODUCT_INL_H_
#undef HOIST_GRAPH_PROGRAM_ROW_PRODUCT_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_ROW_PRODUCT_INL_H_
#endif

#include "graph/ops/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// Adds `kRows` rows of B, one after the other, to c, or to 0 where it is the first time. So many
// rows are read at the same time that c need not be.
template <size_t kRows>
HWY_INLINE void add_rows(const float* a, const float* b, size_t b_row, float* c, size_t columns,
                         bool is_first) {
  const D d;
  V factors[kRows];
#pragma GCC unroll 8
  for (size_t p = 0; p < kRows; ++p) factors[p] = hn::Set(d, a[p]);
  size_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    V sum = is_first ? hn::Zero(d) : hn::LoadU(d, c + j);
#pragma GCC unroll 8
    for (size_t p = 0; p < kRows; ++p) {
      sum = hn::MulAdd(factors[p], hn::LoadU(d, b + p * b_row + j), sum);
    }
    hn::StoreU(sum, d, c + j);
  }
  if (j == columns) return;
  const auto part = part_of(d, columns - j);
  V sum = is_first ? hn::Zero(d) : load_part(d, c + j, part);
#pragma GCC unroll 8
  for (size_t p = 0; p < kRows; ++p) {
    sum = hn::MulAdd(factors[p], load_part(d, b + p * b_row + j, part), sum);
  }
  store_part(d, sum, c + j, part);
}

// c = a B, each sum in the order of B's rows: B is read row by row, as it lies.
void row_product(const float* a, const float* b, size_t b_row, float* c, size_t columns,
                 size_t depth) {
  size_t p = 0;
  for (; p + 8 <= depth; p += 8) add_rows<8>(a + p, b + p * b_row, b_row, c, columns, p == 0);
  for (; p < depth; ++p) add_rows<1>(a + p, b + p * b_row, b_row, c, columns, p == 0);
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
