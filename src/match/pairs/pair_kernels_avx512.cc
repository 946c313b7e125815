#include "base/wide_vectors.h"
#include "match/pairs/pair_kernels.h"

namespace hoist::match {

extern const PairKernels kAvx512PairKernels;

namespace {

constexpr size_t kVectorBytes = 64;
#define HOIST_PAIR_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl" HOIST_WIDE_VECTORS)))
#include "match/pairs/pair_kernels.inc"

}  // namespace

const PairKernels kAvx512PairKernels = kernels_named("avx512");

}  // namespace hoist::match
