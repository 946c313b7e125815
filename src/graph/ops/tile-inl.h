// A block of a matrix product that stays in registers. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_TILE_INL_H_
#undef HOIST_GRAPH_TILE_INL_H_
#else
#define HOIST_GRAPH_TILE_INL_H_
#endif

#include <utility>

#include "graph/ops/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// Sums in registers leave room for a row of B, and on x86 the number of A comes with the
// instruction.
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kTileRows = 12;
#elif HWY_TARGET <= HWY_AVX2
inline constexpr size_t kTileRows = 6;
#else
inline constexpr size_t kTileRows = 4;
#endif
inline constexpr size_t kTileVectors = 2;

// What a tile's functions share; see Kernels::tile.
struct TileCall {
  const float* a;
  size_t a_row;
  size_t a_step;
  const float* b;
  size_t b_row;
  float* c;
  size_t c_row;
  size_t columns;
  size_t depth;
  bool overwrites;
};

// Loops of known length over registers must vanish, or the compiler keeps the sums in memory.
#define HOIST_UNROLL _Pragma("GCC unroll 16")

// With vectors of `Tag`. `in_part`: the last vector of a row is not full. `in_panel`: a_row is 1,
// a_step kTileRows.
template <class Tag, size_t kRows, size_t kVectors, bool in_part, bool in_panel>
HWY_NOINLINE void run_tile(const TileCall& call) {
  const Tag d;
  using V = hn::Vec<Tag>;
  constexpr size_t kLanes = hn::MaxLanes(Tag());
  const auto last = part_of(d, call.columns - (kVectors - 1) * kLanes);
  V sums[kRows][kVectors];
  HOIST_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    HOIST_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  const float* a = call.a;
  const float* b = call.b;
  const size_t a_row = in_panel ? 1 : call.a_row;
  const size_t a_step = in_panel ? kTileRows : call.a_step;
  const size_t b_row = call.b_row;
  for (size_t p = call.depth; p > 0; --p, a += a_step, b += b_row) {
    V row[kVectors];
    HOIST_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      const bool part = in_part && v + 1 == kVectors;
      row[v] = part ? load_part(d, b + v * kLanes, last) : hn::LoadU(d, b + v * kLanes);
    }
    HOIST_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const V factor = hn::Set(d, a[r * a_row]);
      HOIST_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, row[v], sums[r][v]);
    }
  }
  HOIST_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    HOIST_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      float* const c = call.c + r * call.c_row + v * kLanes;
      const bool part = in_part && v + 1 == kVectors;
      V sum = sums[r][v];
      if (!call.overwrites) sum = hn::Add(sum, part ? load_part(d, c, last) : hn::LoadU(d, c));
      if (part) {
        store_part(d, sum, c, last);
      } else {
        hn::StoreU(sum, d, c);
      }
    }
  }
}

#undef HOIST_UNROLL

// Narrow tiles take narrow vectors, of which many processors do two at a time.
template <class Tag, size_t kRows, bool in_panel>
HWY_INLINE void run_narrow_tile(const TileCall& call) {
  constexpr size_t kMost = hn::MaxLanes(Tag());
  if constexpr (kMost > 4) {
    using Half = hn::Simd<float, kMost / 2, 0>;
    if (call.columns <= kMost / 2) return run_narrow_tile<Half, kRows, in_panel>(call);
  }
  if (call.columns == kMost) {
    run_tile<Tag, kRows, 1, false, in_panel>(call);
  } else {
    run_tile<Tag, kRows, 1, true, in_panel>(call);
  }
}

template <size_t kRows, bool in_panel>
HWY_INLINE void run_tile_of_rows(const TileCall& call) {
  static_assert(kTileVectors == 2);
  if (call.columns == 2 * kLanes) {
    run_tile<D, kRows, 2, false, in_panel>(call);
  } else if (call.columns > kLanes) {
    run_tile<D, kRows, 2, true, in_panel>(call);
  } else {
    run_narrow_tile<D, kRows, in_panel>(call);
  }
}

template <size_t... kRows>
HWY_INLINE void run_tile_of(std::index_sequence<kRows...>, size_t rows, const TileCall& call) {
  (void)((rows == kRows + 1 ? (run_tile_of_rows<kRows + 1, false>(call), true) : false) || ...);
}

void tile(const float* a, size_t a_row, size_t a_step, const float* b, size_t b_row, float* c,
          size_t c_row, size_t rows, size_t columns, size_t depth, bool overwrites) {
  const TileCall call{a, a_row, a_step, b, b_row, c, c_row, columns, depth, overwrites};
  if (HWY_LIKELY(rows == kTileRows)) {
    if (a_row == 1 && a_step == kTileRows) return run_tile_of_rows<kTileRows, true>(call);
    return run_tile_of_rows<kTileRows, false>(call);
  }
  run_tile_of(std::make_index_sequence<kTileRows - 1>(), rows, call);
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
