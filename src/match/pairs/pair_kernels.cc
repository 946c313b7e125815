#include "match/pairs/pair_kernels.h"

#include <vector>

#include "base/cpu.h"

namespace hoist::match {

extern const PairKernels kAvx2PairKernels;
extern const PairKernels kAvx512PairKernels;

namespace {

constexpr size_t kVectorBytes = 16;
#define HOIST_PAIR_TARGET
#include "match/pairs/pair_kernels.inc"

constexpr PairKernels kPortable = kernels_named("portable");

std::vector<const PairKernels*> supported() {
  std::vector<const PairKernels*> sets = {&kPortable};
  if (cpu_features().avx2) sets.push_back(&kAvx2PairKernels);
  if (cpu_features().avx512) sets.push_back(&kAvx512PairKernels);
  return sets;
}

}  // namespace

std::span<const PairKernels* const> all_pair_kernels() {
  static const std::vector<const PairKernels*> sets = supported();
  return sets;
}

const PairKernels& pair_kernels() { return *all_pair_kernels().back(); }

}  // namespace hoist::match
