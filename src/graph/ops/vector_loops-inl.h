// Loops over arrays, a vector at a time, the last one in part. Included once for each instruction
// set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_VECTOR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_VECTOR_LOOPS_INL_H_
#undef HOIST_GRAPH_VECTOR_LOOPS_INL_H_
#else
#define HOIST_GRAPH_VECTOR_LOOPS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;

// Results of this many elements or more go past the caches: they would not stay there anyway, and a
// line that is written as a whole need not be read first.
inline constexpr size_t kPastCaches = size_t{1} << 21;

// Known here, because kernels.cc has no targets whose vectors vary in size.
inline constexpr size_t kLanes = hn::MaxLanes(D());

// The first elements of a vector, fewer than it has.
template <class Tag>
struct Part {
  size_t count;
#if HWY_TARGET <= HWY_AVX2
  hn::Mask<Tag> mask;
#endif
};

template <class Tag>
HWY_INLINE Part<Tag> part_of([[maybe_unused]] Tag d, size_t count) {
#if HWY_TARGET <= HWY_AVX2
  return {count, hn::FirstN(d, count)};
#else
  return {count};
#endif
}

// Zeros behind them. Nothing beyond them is touched.
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_part(Tag d, const float* from, Part<Tag> part) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(part.mask, d, from);
#else
  HWY_ALIGN float values[hn::MaxLanes(d)] = {};
  std::memcpy(values, from, part.count * sizeof(float));
  return hn::Load(d, values);
#endif
}

template <class Tag>
HWY_INLINE void store_part(Tag d, hn::Vec<Tag> values, float* to, Part<Tag> part) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(values, part.mask, d, to);
#else
  HWY_ALIGN float stored[hn::MaxLanes(d)];
  hn::Store(values, d, stored);
  std::memcpy(to, stored, part.count * sizeof(float));
#endif
}

// Whether results go past the caches. Stores that do need a vector's alignment, which an array
// whose floats lie at odd addresses never reaches.
HWY_INLINE bool goes_past_caches(const float* to, size_t n) {
  return n >= kPastCaches && reinterpret_cast<uintptr_t>(to) % sizeof(float) == 0;
}

// How many elements lie in front of the first one at a vector's alignment.
HWY_INLINE size_t misaligned(const float* at) {
  const size_t bytes = kLanes * sizeof(float);
  const size_t behind = reinterpret_cast<uintptr_t>(at) % bytes;
  return behind == 0 ? 0 : (bytes - behind) / sizeof(float);
}

// c[i] = f(a[i])
template <class F>
HWY_INLINE void map(const float* a, float* c, size_t n, const F& f) {
  const D d;
  size_t i = 0;
  if (HWY_UNLIKELY(goes_past_caches(c, n) && a != c)) {
    if (const size_t head = misaligned(c); head != 0) {
      const auto part = part_of(d, head);
      store_part(d, f(load_part(d, a, part)), c, part);
      i = head;
    }
    for (; i + kLanes <= n; i += kLanes) hn::Stream(f(hn::LoadU(d, a + i)), d, c + i);
    hwy::FlushStream();
  }
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(f(hn::LoadU(d, a + i)), d, c + i);
  if (i < n) {
    const auto part = part_of(d, n - i);
    store_part(d, f(load_part(d, a + i, part)), c + i, part);
  }
}

// c[i] = f(a[i], b[i])
template <class F>
HWY_INLINE void map_pairs(const float* a, const float* b, float* c, size_t n, const F& f) {
  const D d;
  size_t i = 0;
  if (HWY_UNLIKELY(goes_past_caches(c, n) && a != c && b != c)) {
    if (const size_t head = misaligned(c); head != 0) {
      const auto part = part_of(d, head);
      store_part(d, f(load_part(d, a, part), load_part(d, b, part)), c, part);
      i = head;
    }
    for (; i + kLanes <= n; i += kLanes) {
      hn::Stream(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, c + i);
    }
    hwy::FlushStream();
  }
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, c + i);
  }
  if (i < n) {
    const auto part = part_of(d, n - i);
    store_part(d, f(load_part(d, a + i, part), load_part(d, b + i, part)), c + i, part);
  }
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
