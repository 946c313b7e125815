#include "match/scan/tile_kernels.h"

#include <array>
#include <bit>

#include "match/segment_view.h"

namespace hoist::match {

extern const TileKernels kAvx2TileKernels;
extern const TileKernels kAvx512TileKernels;
bool avx2_supported();
bool avx512_supported();

namespace {

template <typename T>
uint32_t members(const QueryTables& query, const T* tile, uint32_t rows, uint32_t least) {
  std::array<uint32_t, kTileWidth> counts{};
  for (uint32_t row = 0; row < rows; ++row, tile += kTileWidth) {
    for (uint32_t lane = 0; lane < kTileWidth; ++lane) {
      counts[lane] += static_cast<uint32_t>(query.may_have(tile[lane]));
    }
  }
  uint32_t lanes = 0;
  for (uint32_t lane = 0; lane < kTileWidth; ++lane) {
    lanes |= static_cast<uint32_t>(counts[lane] >= least) << lane;
  }
  return lanes;
}

const TileKernels kPortableTileKernels = {"portable", nullptr, members<uint16_t>, members<uint32_t>,
                                          word_lcs_of_lanes};

struct RunnableKernels {
  std::array<const TileKernels*, 3> sets{};
  size_t count = 0;

  void add(const TileKernels& kernels) { sets[count++] = &kernels; }
};

RunnableKernels find_runnable() {
  RunnableKernels runnable;
  runnable.add(kPortableTileKernels);
  if (avx2_supported()) runnable.add(kAvx2TileKernels);
  if (avx512_supported()) runnable.add(kAvx512TileKernels);
  return runnable;
}

}  // namespace

void word_lcs_of_lanes(const QueryTables& query, const uint16_t* tile, uint32_t rows,
                       uint32_t lanes, uint16_t* lcs) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const uint16_t* at = tile + lane;
    uint64_t state = ~uint64_t{0};
    for (uint32_t row = 0; row < rows; ++row, at += kTileWidth) {
      const uint64_t matches = state & query.mask(*at);
      state = (state + matches) | (state - matches);
    }
    lcs[lane] = static_cast<uint16_t>(std::popcount(~state));
  }
}

std::span<const TileKernels* const> all_tile_kernels() {
  static const RunnableKernels runnable = find_runnable();
  return {runnable.sets.data(), runnable.count};
}

const TileKernels& tile_kernels() { return *all_tile_kernels().back(); }

}  // namespace hoist::match
