#include "match/pairs/pair_kernels.h"

namespace hoist::match {

extern const PairKernels kAvx2PairKernels;

namespace {

constexpr size_t kVectorBytes = 32;
#define HOIST_PAIR_TARGET __attribute__((target("avx2,popcnt")))
#include "match/pairs/pair_kernels.inc"

}  // namespace

const PairKernels kAvx2PairKernels = kernels_named("avx2");

}  // namespace hoist::match
