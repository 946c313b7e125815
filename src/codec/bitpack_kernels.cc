#include "codec/bitpack_kernels.h"

#include "base/cpu.h"

namespace hoist::codec {

extern const TileKernels kPortableTileKernels;
extern const TileKernels kAvx2TileKernels;
extern const TileKernels kAvx512TileKernels;

namespace {

struct RunnableKernels {
  std::array<const TileKernels*, 3> sets{};
  size_t count = 0;

  void add(const TileKernels& kernels) { sets[count++] = &kernels; }
};

RunnableKernels find_runnable() {
  RunnableKernels runnable;
  runnable.add(kPortableTileKernels);
  if (cpu_features().avx2) runnable.add(kAvx2TileKernels);
  if (cpu_features().avx512) runnable.add(kAvx512TileKernels);
  return runnable;
}

}  // namespace

std::span<const TileKernels* const> all_tile_kernels() {
  static const RunnableKernels runnable = find_runnable();
  return {runnable.sets.data(), runnable.count};
}

const TileKernels& tile_kernels() { return *all_tile_kernels().back(); }

}  // namespace hoist::codec
