// Matrix products of f64 and of integers. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_TYPED_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_TYPED_PRODUCTS_INL_H_
#undef HOIST_GRAPH_PROGRAM_TYPED_PRODUCTS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_TYPED_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "graph/program/typed_steps.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::typed {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;

inline constexpr size_t kDoubles = hn::MaxLanes(Doubles());
inline constexpr size_t kProductRows = 6;
inline constexpr size_t kPanelVectors = 2;
inline constexpr size_t kPanel = kPanelVectors * kDoubles;

// A block of kRows rows and up to kPanel columns, whose sums stay in registers. B lies in a panel
// of kPanel columns, filled up with zeros.
template <size_t kRows>
HWY_INLINE void product_block(const double* a, size_t a_row, const double* panel, double* c,
                              size_t c_row, size_t columns, size_t depth) {
  const Doubles d;
  hn::Vec<Doubles> sums[kRows][kPanelVectors];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kPanelVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (size_t p = 0; p < depth; ++p) {
    hn::Vec<Doubles> row[kPanelVectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < kPanelVectors; ++v)
      row[v] = hn::LoadU(d, panel + p * kPanel + v * kDoubles);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[r * a_row + p]);
#pragma GCC unroll 16
      for (size_t v = 0; v < kPanelVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, row[v], sums[r][v]);
      }
    }
  }
  HWY_ALIGN double line[kPanel];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kPanelVectors; ++v) hn::StoreU(sums[r][v], d, line + v * kDoubles);
    std::copy_n(line, columns, c + r * c_row);
  }
}

inline void product_f64(const ProductShape& shape, const double* a, const double* b, double* c) {
  thread_local std::vector<double> panel;
  if (panel.size() < shape.depth * kPanel) panel.resize(shape.depth * kPanel);
  for (size_t j = 0; j < shape.columns; j += kPanel) {
    const size_t columns = std::min(kPanel, shape.columns - j);
    for (size_t p = 0; p < shape.depth; ++p) {
      double* const to = panel.data() + p * kPanel;
      std::copy_n(b + p * shape.b_row + j, columns, to);
      std::fill(to + columns, to + kPanel, 0.0);
    }
    size_t i = 0;
    for (; i + kProductRows <= shape.rows; i += kProductRows) {
      product_block<kProductRows>(a + i * shape.a_row, shape.a_row, panel.data(),
                                  c + i * shape.c_row + j, shape.c_row, columns, shape.depth);
    }
    for (; i < shape.rows; ++i) {
      product_block<1>(a + i * shape.a_row, shape.a_row, panel.data(), c + i * shape.c_row + j,
                       shape.c_row, columns, shape.depth);
    }
  }
}

// Wraps. Sums of four rows of B are added at a time.
inline void product_i64(const ProductShape& shape, const int64_t* a, const int64_t* b, int64_t* c) {
  for (size_t i = 0; i < shape.rows; ++i) {
    auto* const HWY_RESTRICT row = reinterpret_cast<uint64_t*>(c + i * shape.c_row);
    std::fill_n(row, shape.columns, 0);
    const auto* const factors = reinterpret_cast<const uint64_t*>(a + i * shape.a_row);
    const auto* const from = reinterpret_cast<const uint64_t*>(b);
    size_t p = 0;
    for (; p + 4 <= shape.depth; p += 4) {
      const uint64_t* const HWY_RESTRICT b0 = from + p * shape.b_row;
      const uint64_t* const HWY_RESTRICT b1 = b0 + shape.b_row;
      const uint64_t* const HWY_RESTRICT b2 = b1 + shape.b_row;
      const uint64_t* const HWY_RESTRICT b3 = b2 + shape.b_row;
      const uint64_t f0 = factors[p];
      const uint64_t f1 = factors[p + 1];
      const uint64_t f2 = factors[p + 2];
      const uint64_t f3 = factors[p + 3];
      for (size_t j = 0; j < shape.columns; ++j) {
        row[j] += f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j];
      }
    }
    for (; p < shape.depth; ++p) {
      const uint64_t* const HWY_RESTRICT at = from + p * shape.b_row;
      for (size_t j = 0; j < shape.columns; ++j) row[j] += factors[p] * at[j];
    }
  }
}

}  // namespace hoist::graph::HWY_NAMESPACE::typed
HWY_AFTER_NAMESPACE();
#endif
