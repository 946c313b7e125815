// Steps as loops over elements. Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_ELEMENT_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_ELEMENT_LOOPS_INL_H_
#undef HOIST_GRAPH_PROGRAM_ELEMENT_LOOPS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_ELEMENT_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include "graph/program/steps.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// F::of(a, b, c) of elements; inputs are T, but for the condition of a choice, results R.
template <class F, class A, class T, class R, int kInputs, unsigned kScalars>
void run_typed(const void* in_a, const void* in_b, const void* in_c, void* to, size_t n) {
  const auto* const a = static_cast<const A*>(in_a);
  const auto* const b = static_cast<const T*>(in_b);
  const auto* const c = static_cast<const T*>(in_c);
  auto* const out = static_cast<R*>(to);
  const auto at = [](unsigned which, size_t i) { return (kScalars & which) != 0 ? 0 : i; };
  for (size_t i = 0; i < n; ++i) {
    if constexpr (kInputs == 1) out[i] = F::of(a[at(1, i)]);
    if constexpr (kInputs == 2) out[i] = F::of(a[at(1, i)], b[at(2, i)]);
    if constexpr (kInputs == 3) out[i] = F::of(a[at(1, i)], b[at(2, i)], c[at(4, i)]);
  }
}

template <class F, class T>
constexpr program::StepRow one() {
  return {run_typed<F, T, T, T, 1, 0>, run_typed<F, T, T, T, 1, 1>};
}
template <class F, class T, class R = T>
constexpr program::StepRow two() {
  return {run_typed<F, T, T, R, 2, 0>, run_typed<F, T, T, R, 2, 1>, run_typed<F, T, T, R, 2, 2>,
          run_typed<F, T, T, R, 2, 3>};
}
template <class F, class C, class T>
constexpr program::StepRow three() {
  return {run_typed<F, C, T, T, 3, 0>, run_typed<F, C, T, T, 3, 1>, run_typed<F, C, T, T, 3, 2>,
          run_typed<F, C, T, T, 3, 3>, run_typed<F, C, T, T, 3, 4>, run_typed<F, C, T, T, 3, 5>,
          run_typed<F, C, T, T, 3, 6>, run_typed<F, C, T, T, 3, 7>};
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
