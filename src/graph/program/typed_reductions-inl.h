// Sums, extremes and matrix products of f64 and of integers. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/program/typed_steps.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::typed {

// As block_sum() of graph/ops/reductions-inl.h: 64 columns of 16, by halves.
template <class T>
HWY_INLINE T sum_of_block(const T* a, size_t n) {
  constexpr size_t kColumns = 64;
  T columns[kColumns] = {};
  size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    for (size_t k = 0; k < kColumns; ++k) columns[k] += a[i + k];
  }
  for (size_t k = 0; i + k < n; ++k) columns[k] += a[i + k];
  for (size_t half = kColumns / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) columns[k] += columns[k + half];
  }
  return columns[0];
}

// Blocks by pairs.
template <class T>
T sum_of(const T* a, size_t n) {
  constexpr size_t kTerms = 1024;
  if (n <= kTerms) return sum_of_block(a, n);
  T waiting[8 * sizeof(size_t)];
  size_t blocks = 0;
  size_t depth = 0;
  for (size_t i = 0; i < n; i += kTerms) {
    T sum = sum_of_block(a + i, std::min(kTerms, n - i));
    for (size_t done = ++blocks; done % 2 == 0; done /= 2) sum = waiting[--depth] + sum;
    waiting[depth++] = sum;
  }
  T sum = waiting[--depth];
  while (depth > 0) sum = waiting[--depth] + sum;
  return sum;
}

inline int64_t sum_of_integers(const int64_t* a, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<uint64_t>(a[i]);
  return static_cast<int64_t>(sum);
}

// As Stored in memory; n >= 1.
template <class F, class T, class Stored>
Stored extreme(const Stored* a, size_t n) {
  constexpr size_t kColumns = 32;
  T best[kColumns];
  std::fill_n(best, kColumns, static_cast<T>(a[0]));
  size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    for (size_t k = 0; k < kColumns; ++k) best[k] = F::of(best[k], static_cast<T>(a[i + k]));
  }
  for (; i < n; ++i) best[0] = F::of(best[0], static_cast<T>(a[i]));
  for (size_t k = 1; k < kColumns; ++k) best[0] = F::of(best[0], best[k]);
  return static_cast<Stored>(best[0]);
}

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kProductRows = 4;
inline constexpr size_t kProductColumns = 16;

// A block of up to kProductRows rows and kProductColumns columns, whose sums stay in registers. B
// lies in a panel of kProductColumns columns, filled up with zeros.
template <size_t kRows>
HWY_INLINE void product_block(const double* a, size_t a_row, const double* panel, double* c,
                              size_t c_row, size_t columns, size_t depth) {
  double sums[kRows][kProductColumns] = {};
  for (size_t p = 0; p < depth; ++p) {
    for (size_t r = 0; r < kRows; ++r) {
      const double factor = a[r * a_row + p];
      for (size_t j = 0; j < kProductColumns; ++j) {
        sums[r][j] += factor * panel[p * kProductColumns + j];
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) std::copy_n(sums[r], columns, c + r * c_row);
}

inline void product_f64(const ProductShape& shape, const double* a, const double* b, double* c) {
  thread_local std::vector<double> panel;
  if (panel.size() < shape.depth * kProductColumns) panel.resize(shape.depth * kProductColumns);
  for (size_t j = 0; j < shape.columns; j += kProductColumns) {
    const size_t columns = std::min(kProductColumns, shape.columns - j);
    for (size_t p = 0; p < shape.depth; ++p) {
      double* const to = panel.data() + p * kProductColumns;
      std::copy_n(b + p * shape.b_row + j, columns, to);
      std::fill(to + columns, to + kProductColumns, 0.0);
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

// Wraps.
inline void product_i64(const ProductShape& shape, const int64_t* a, const int64_t* b, int64_t* c) {
  for (size_t i = 0; i < shape.rows; ++i) {
    int64_t* const row = c + i * shape.c_row;
    std::fill_n(row, shape.columns, 0);
    for (size_t p = 0; p < shape.depth; ++p) {
      const auto factor = static_cast<uint64_t>(a[i * shape.a_row + p]);
      for (size_t j = 0; j < shape.columns; ++j) {
        row[j] = static_cast<int64_t>(static_cast<uint64_t>(row[j]) +
                                      factor * static_cast<uint64_t>(b[p * shape.b_row + j]));
      }
    }
  }
}

}  // namespace hoist::graph::HWY_NAMESPACE::typed
HWY_AFTER_NAMESPACE();
#endif
