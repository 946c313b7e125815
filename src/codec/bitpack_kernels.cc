#include "codec/bitpack_kernels.h"

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
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) runnable.add(kAvx2TileKernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    runnable.add(kAvx512TileKernels);
  }
  return runnable;
}

}  // namespace

std::span<const TileKernels* const> all_tile_kernels() {
  static const RunnableKernels runnable = find_runnable();
  return {runnable.sets.data(), runnable.count};
}

const TileKernels& tile_kernels() { return *all_tile_kernels().back(); }

}  // namespace hoist::codec
