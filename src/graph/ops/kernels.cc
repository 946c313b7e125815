// The tables of kernels: one source, compiled by Highway for each instruction set that Hoist tells
// apart (HOIST_ISA). The choice among them is ours, so that nothing of Highway need be linked.
#include "graph/ops/kernels.h"

#include <vector>

#include "base/cpu.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/ops/kernels.cc"
#include <hwy/foreach_target.h>
//
#include "graph/ops/elementwise-inl.h"
#include "graph/ops/reductions-inl.h"
#include "graph/ops/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {
namespace {

template <class F>
void binary(const float* a, const float* b, float* c, size_t n) {
  map_pairs(a, b, c, n, F());
}

template <class F>
void unary(const float* a, float* c, size_t n) {
  map(a, c, n, F());
}

void softmax_of(const float* a, float* c, size_t n) { softmax(a, c, n); }

template <class F>
void scalar(const float* a, float* c, size_t n, float value) {
  map(a, c, n, F{number(value)});
}

template <class F>
void clip(const float* a, float* c, size_t n, float low, float high) {
  map(a, c, n, F{number(low), number(high)});
}

float sum(const float* a, size_t n) { return pairwise_sum(a, nullptr, n, Value()); }

template <class F>
float extreme_of(const float* a, size_t n) {
  return extreme(a, n, F());
}

template <class Term>
float sum_of(const float* a, const float* b, size_t n) {
  return pairwise_sum(a, b, n, Term());
}

}  // namespace

extern const ops_detail::Kernels<float> kKernels;
const ops_detail::Kernels<float> kKernels = {
#if HWY_TARGET == HWY_AVX3
    .name = "avx512",
#elif HWY_TARGET == HWY_AVX2
    .name = "avx2",
#else
    .name = "scalar",
#endif
    .binary = {binary<Add>, binary<Subtract>, binary<Multiply>, binary<Divide>, binary<Minimum>,
               binary<Maximum>, binary<Fmin>, binary<Fmax>},
    .unary = {unary<Absolute>, unary<Negative>, unary<Relu>, unary<Frelu>, unary<Sigmoid>,
              unary<Tanh>, unary<GeluTanh>, unary<GeluErf>, softmax_of},
    .scalar = {scalar<Plus>, scalar<Times>},
    .clip = clip<Clip>,
    .fclip = clip<Fclip>,
    .sum = sum,
    .extreme = {extreme_of<Minimum>, extreme_of<Maximum>, extreme_of<Fmin>, extreme_of<Fmax>},
    .loss_sum = {sum_of<Square>, sum_of<CrossEntropy>, sum_of<BinaryCrossEntropy>},
    .dot = sum_of<Product>,
    .tile = tile,
    .tile_size = {kTileRows, kTileVectors* kLanes},
};

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hoist::graph::ops_detail {

std::span<const Kernels<float>* const> runnable_f32() {
  static const std::vector<const Kernels<float>*> all = [] {
    std::vector<const Kernels<float>*> found;
    const CpuFeatures& cpu = cpu_features();
#if HWY_TARGETS & HWY_AVX3
    if (cpu.avx512 && cpu.bmi2) found.push_back(&N_AVX3::kKernels);
#endif
#if HWY_TARGETS & HWY_AVX2
    if (cpu.avx2 && cpu.bmi2) found.push_back(&N_AVX2::kKernels);
#endif
    found.push_back(&HWY_NAMESPACE::kKernels);
    return found;
  }();
  return all;
}

const Kernels<float>& kernels_f32() {
  static const Kernels<float>& widest = *runnable_f32().front();
  return widest;
}

}  // namespace hoist::graph::ops_detail
#endif
