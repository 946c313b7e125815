#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

constexpr const char* kCuda = R"px(
// Registers are shared out so that a block may have as many threads.
#if !defined(PX_MOST_THREADS)
#define PX_MOST_THREADS 1024
#endif

namespace px {

namespace atomic {
// CUDA has its atomics for some types of 32 and 64 bits; the rest are those on the same bits.
PX_FUNCTION u64* bits_of(u64* place) { return place; }
PX_FUNCTION u64* bits_of(i64* place) { return reinterpret_cast<u64*>(place); }
PX_FUNCTION u32* bits_of(u32* place) { return place; }
PX_FUNCTION u32* bits_of(i32* place) { return reinterpret_cast<u32*>(place); }

template <class T>
PX_FUNCTION T add(T* place, T value) {
  if constexpr (traits<T>::is_float) {
    return atomicAdd(place, value);
  } else {
    using word = typename traits<T>::same_width;
    return T(atomicAdd(bits_of(place), word(value)));
  }
}
template <class T>
PX_FUNCTION T minimum(T* place, T value) {
  return atomicMin(place, value);
}
template <class T>
PX_FUNCTION T maximum(T* place, T value) {
  return atomicMax(place, value);
}
template <class T>
PX_FUNCTION T bit_and(T* place, T value) {
  return T(atomicAnd(bits_of(place), typename traits<T>::same_width(value)));
}
template <class T>
PX_FUNCTION T bit_or(T* place, T value) {
  return T(atomicOr(bits_of(place), typename traits<T>::same_width(value)));
}
template <class T>
PX_FUNCTION T bit_xor(T* place, T value) {
  return T(atomicXor(bits_of(place), typename traits<T>::same_width(value)));
}
template <class T>
PX_FUNCTION T exchange(T* place, T value) {
  return T(atomicExch(bits_of(place), typename traits<T>::same_width(value)));
}
template <class T>
PX_FUNCTION T compare_exchange(T* place, T comparand, T value) {
  using word = typename traits<T>::same_width;
  return T(atomicCAS(bits_of(place), word(comparand), word(value)));
}
}  // namespace atomic

// The threads that run together with this one.
struct warp {
  u32 mask;
  i32 lane;
  i32 count;  // fewer than 32 in the last warp of some blocks

  // The value of another lane; that of this one where it is not there.
  template <class T>
  PX_METHOD T from(T value, i64 other) const {
    const i32 source = other >= 0 && other < count ? i32(other) : lane;
    if constexpr (sizeof(T) == 8) {
      return bits_as<T>(u64(__shfl_sync(mask, bits_as<u64>(value), source)));
    } else {
      using word = typename traits<T>::same_width;
      return bits_as<T>(word(__shfl_sync(mask, u32(bits_as<word>(value)), source)));
    }
  }
  // What the first `values` lanes make together, in the first lane: i takes in i + 16, then 8, …
  template <class T, class Op>
  PX_METHOD T combine(T value, i32 values, Op op) const {
    for (i32 distance = 16; distance > 0; distance /= 2) {
      const T other = from(value, lane + distance);
      if (lane + distance < values) value = op(value, other);
    }
    return value;
  }
  template <class T, class Op>
  PX_METHOD T reduce(T value, Op op) const {
    return from(combine(value, count, op), 0);
  }
};
PX_FUNCTION i32 place_in_block() {
  return i32((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}
PX_FUNCTION i32 threads_of_block() { return i32(blockDim.x * blockDim.y * blockDim.z); }
PX_FUNCTION warp this_warp() {
  const i32 place = place_in_block();
  const i32 left = threads_of_block() - place / 32 * 32;
  const i32 count = left < 32 ? left : 32;
  return {count == 32 ? ~0u : (1u << count) - 1u, place % 32, count};
}
template <class T, class Op>
PX_FUNCTION T reduce_block(const warp& here, T value, Op op) {
  __shared__ u64 results[32];
  T* const made = reinterpret_cast<T*>(results);
  const i32 number = place_in_block() / 32;
  const T mine = here.combine(value, here.count, op);
  __syncthreads();  // the last reduction's result has been read
  if (here.lane == 0) made[number] = mine;
  __syncthreads();
  if (number == 0) {
    const i32 warps = (threads_of_block() + 31) / 32;
    const T all = here.combine(here.lane < warps ? made[here.lane] : value, warps, op);
    if (here.lane == 0) made[0] = all;
  }
  __syncthreads();
  return made[0];
}
template <class T>
PX_FUNCTION T sum(T a, T b) {
  if constexpr (traits<T>::is_float) return a + b;
  else return add(a, b);
}

}  // namespace px
)px";

}  // namespace

std::string cuda_prelude_text() { return kCuda; }

}  // namespace hoist::px
