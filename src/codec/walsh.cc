// The transform of N values is a butterfly (a + b, a - b) between the halves, followed by the
// transforms of the halves. Going depth first, all work on a part is done while the part is in the
// nearest cache that holds it; two levels are done in one pass over the data, and the last ones,
// up to eight vectors, in registers, within vectors by exchanging lanes. Written once for vectors
// of any width in the vector extensions of GCC and clang.
#include "codec/walsh.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <utility>

#include "base/float_vectors.h"
#include "codec/walsh_kernels.h"

namespace hoist::codec {
namespace walsh_detail {
namespace {

template <size_t kLanes, typename V = typename FloatVectors<kLanes>::Floats>
[[gnu::always_inline]] inline void load(const float* from, V& vector) {
  vector = *reinterpret_cast<const typename FloatVectors<kLanes>::Stored*>(from);
}

template <size_t kLanes, typename V = typename FloatVectors<kLanes>::Floats>
[[gnu::always_inline]] inline void store(const V& vector, float* to) {
  *reinterpret_cast<typename FloatVectors<kLanes>::Stored*>(to) = vector;
}

// Levels within a vector: lane i meets lane i xor kDistance.
template <size_t kLanes, size_t kDistance = 1>
[[gnu::always_inline]] inline void within(typename FloatVectors<kLanes>::Floats& v) {
  if constexpr (kDistance < kLanes) {
    [&]<size_t... kLane>(std::index_sequence<kLane...>) __attribute__((always_inline)) {
      const typename FloatVectors<kLanes>::Floats sign = {
          ((kLane & kDistance) != 0 ? -1.0f : 1.0f)...};
      v = __builtin_shufflevector(v, v, (kLane ^ kDistance)...) + v * sign;
    }
    (std::make_index_sequence<kLanes>());
    within<kLanes, 2 * kDistance>(v);
  }
}

// Levels between kCount vectors.
template <size_t kCount, size_t kDistance = 1, typename V>
[[gnu::always_inline]] inline void between(V (&v)[kCount]) {
  if constexpr (kDistance < kCount) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) {
      if ((i & kDistance) == 0) {
        const V sum = v[i] + v[i + kDistance];
        v[i + kDistance] = v[i] - v[i + kDistance];
        v[i] = sum;
      }
    }
    between<kCount, 2 * kDistance>(v);
  }
}

// All levels of kCount * kLanes values.
template <size_t kLanes, size_t kCount>
[[gnu::always_inline]] inline void in_registers(float* values, float scale) {
  typename FloatVectors<kLanes>::Floats v[kCount];
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
    load<kLanes>(values + i * kLanes, v[i]);
    within<kLanes>(v[i]);
  }
  between(v);
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
    v[i] *= scale;
    store<kLanes>(v[i], values + i * kLanes);
  }
}

// The first levels: between kCount parts of the array.
template <size_t kLanes, size_t kCount>
[[gnu::always_inline]] inline void between_parts(float* values, size_t length) {
  const size_t part = length / kCount;
  for (size_t offset = 0; offset < part; offset += kLanes) {
    typename FloatVectors<kLanes>::Floats v[kCount];
#pragma GCC unroll 4
    for (size_t i = 0; i < kCount; ++i) load<kLanes>(values + offset + i * part, v[i]);
    between(v);
#pragma GCC unroll 4
    for (size_t i = 0; i < kCount; ++i) store<kLanes>(v[i], values + offset + i * part);
  }
}

// Depth first without recursion: before a leaf of 8 vectors, the first levels of all parts that
// begin with this leaf, the largest first.
template <size_t kLanes>
[[gnu::always_inline]] inline void transform(float* values, size_t length, float scale) {
  constexpr size_t kLeaf = 8 * kLanes;
  if (length == kLanes) return in_registers<kLanes, 1>(values, scale);
  if (length == 2 * kLanes) return in_registers<kLanes, 2>(values, scale);
  if (length == 4 * kLanes) return in_registers<kLanes, 4>(values, scale);
  for (size_t done = 0; done < length; done += kLeaf) {
    float* part = values + done;
    // Sizes of parts are length, length / 4, …; an odd level is left for the end.
    size_t size = length;
    for (; size > 2 * kLeaf; size /= 4) {
      if (done % size == 0) between_parts<kLanes, 4>(part, size);
    }
    if (size == 2 * kLeaf && done % size == 0) between_parts<kLanes, 2>(part, size);
    in_registers<kLanes, 8>(part, scale);
  }
}

void run_1(float* values, size_t length, float scale) { transform<1>(values, length, scale); }
void run_4(float* values, size_t length, float scale) { transform<4>(values, length, scale); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] void run_8(float* values, size_t length, float scale) {
  transform<8>(values, length, scale);
}
[[gnu::target("avx512f")]] void run_16(float* values, size_t length, float scale) {
  transform<16>(values, length, scale);
}
#endif

}  // namespace

std::span<const Kernel> kernels() {
#if defined(__x86_64__)
  static constexpr Kernel kAll[] = {
      {"avx512", 16, run_16}, {"avx2", 8, run_8}, {"vector4", 4, run_4}, {"scalar", 1, run_1}};
  static const auto here = runnable(std::span<const Kernel, 4>(kAll));
  return here;
#else
  static constexpr Kernel kAll[] = {{"vector4", 4, run_4}, {"scalar", 1, run_1}};
  return kAll;
#endif
}

}  // namespace walsh_detail

Status walsh_hadamard(std::span<float> values) {
  if (!std::has_single_bit(values.size())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("Walsh-Hadamard transform of {} values: must be a power of two",
                            values.size()));
  }
  const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(values.size())));
  for (const walsh_detail::Kernel& kernel : walsh_detail::kernels()) {
    if (values.size() < kernel.min_length) continue;
    kernel.run(values.data(), values.size(), scale);
    break;
  }
  return {};
}

}  // namespace hoist::codec
