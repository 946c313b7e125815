#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

constexpr const char* kCpu = R"px(#include <cstdlib>
#include <new>

#if defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && defined(__x86_64__)
#if __GLIBC_PREREQ(2, 35)
// The vector forms of libmvec.
#define PX_VECTOR_FUNCTION(name)                                                         \
  extern "C" __attribute__((simd("notinbranch"))) double name(double) noexcept(true);    \
  extern "C" __attribute__((simd("notinbranch"))) float name##f(float) noexcept(true);
PX_VECTOR_FUNCTION(exp)
PX_VECTOR_FUNCTION(exp2)
PX_VECTOR_FUNCTION(log)
PX_VECTOR_FUNCTION(log2)
PX_VECTOR_FUNCTION(log10)
PX_VECTOR_FUNCTION(sin)
PX_VECTOR_FUNCTION(cos)
PX_VECTOR_FUNCTION(tan)
PX_VECTOR_FUNCTION(tanh)
PX_VECTOR_FUNCTION(erf)
#undef PX_VECTOR_FUNCTION
#endif
#endif

#if defined(__clang__)
#define PX_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define PX_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace px {

struct launch {
  u32 blocks[3];
  u32 threads[3];
  void* const* arrays;   // of each argument, or null
  const u64* lengths;    // likewise
  const u64* scalars;    // likewise, as bits
  px::fault* fault;
};

template <class T>
PX_FUNCTION T scalar(const launch& launch, int argument) {
  using word = typename traits<T>::same_width;
  return bits_as<T>(word(launch.scalars[argument]));
}
template <class T>
PX_FUNCTION T* array(const launch& launch, int argument) {
  return static_cast<T*>(launch.arrays[argument]);
}

// Consecutive blocks of a grid that differ in x alone.
struct row {
  u32 first;  // x of the first block
  u32 last;   // x behind the last
  u32 y, z;
};
// Whether its thread ids are below 2^28, so that few sums and products of them can wrap.
PX_FUNCTION bool is_near(const launch& launch, const row& at) {
  constexpr u64 far = u64(1) << 28;
  return u64(at.last) * launch.threads[0] <= far && u64(at.y + 1) * launch.threads[1] <= far &&
         u64(at.z + 1) * launch.threads[2] <= far;
}
template <class Use>
PX_FUNCTION void for_each_row(const launch& launch, u64 begin, u64 end, Use use) {
  const u64 width = launch.blocks[0];
  while (begin < end) {
    const u64 first = begin % width;
    const u64 line = begin / width;
    const u64 last = end - begin < width - first ? first + (end - begin) : width;
    use(row{u32(first), u32(last), u32(line % launch.blocks[1]), u32(line / launch.blocks[1])});
    begin += last - first;
  }
}

// Memory of one block: what its threads keep from one part of the kernel to the next.
class scratch {
 public:
  explicit scratch(std::size_t size) : data_(static_cast<char*>(std::malloc(size + 64))) {
    if (!data_) std::abort();
  }
  ~scratch() { std::free(data_); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  template <class T>
  T* take(std::size_t count) {
    const std::size_t begin = (reinterpret_cast<std::size_t>(data_) + used_ + 63) / 64 * 64 -
                              reinterpret_cast<std::size_t>(data_);
    used_ = begin + count * sizeof(T);
    return reinterpret_cast<T*>(data_ + begin);
  }
  void reset() { used_ = 0; }

 private:
  char* data_;
  std::size_t used_ = 0;
};

// The threads of a block run on one core, so what they share needs no more than that.
template <class T, class Op>
PX_FUNCTION T update_shared(T* place, Op op) {
  const T old = *place;
  *place = op(old);
  return old;
}
template <class T, class Op>
PX_FUNCTION T update_global(T* place, Op op) {
  using word = typename traits<T>::same_width;
  word* const bits = reinterpret_cast<word*>(place);
  word old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &old, bits_as<word>(op(bits_as<T>(old))), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return bits_as<T>(old);
}
template <class T>
PX_FUNCTION T sum(T a, T b) {
  if constexpr (traits<T>::is_float) return a + b;
  else return add(a, b);
}
#define PX_ATOMIC(name, update, expression)                                              \
  template <class T>                                                                     \
  PX_FUNCTION T name(T* place, T value) {                                                \
    return update(place, [=](T old) { return expression; });                             \
  }
#define PX_ATOMICS(space, update)                                                        \
  namespace space {                                                                      \
  PX_ATOMIC(add, update, sum(old, value))                                                \
  PX_ATOMIC(minimum, update, min(old, value))                                            \
  PX_ATOMIC(maximum, update, max(old, value))                                            \
  PX_ATOMIC(bit_and, update, old & value)                                                \
  PX_ATOMIC(bit_or, update, old | value)                                                 \
  PX_ATOMIC(bit_xor, update, old ^ value)                                                \
  PX_ATOMIC(exchange, update, value)                                                     \
  template <class T>                                                                     \
  PX_FUNCTION T compare_exchange(T* place, T comparand, T value) {                       \
    return update(place, [=](T old) { return old == comparand ? value : old; });         \
  }                                                                                      \
  }
PX_ATOMICS(in_shared, update_shared)
PX_ATOMICS(in_global, update_global)
#undef PX_ATOMICS
#undef PX_ATOMIC

// What 32 values, or as many as there are, make together: value i takes in i + 16, then 8, 4, 2, 1.
template <class T, class Op>
PX_FUNCTION T combine(T* values, u32 count, Op op) {
  for (u32 distance = 16; distance > 0; distance /= 2) {
    for (u32 i = 0; i < distance && i + distance < count; ++i) {
      values[i] = op(values[i], values[i + distance]);
    }
  }
  return values[0];
}
// Each warp's in its first place; `count` values of a block.
template <class T, class Op>
PX_FUNCTION void combine_warps(T* values, u32 count, Op op) {
  for (u32 begin = 0; begin < count; begin += 32) {
    combine(values + begin, count - begin < 32 ? count - begin : 32, op);
  }
}
template <class T, class Op>
PX_FUNCTION T combine_block(T* values, u32 count, Op op) {
  combine_warps(values, count, op);
  u32 warps = 0;
  for (u32 begin = 0; begin < count; begin += 32) values[warps++] = values[begin];
  return combine(values, warps, op);
}
// The thread whose value the thread `self` gets.
PX_FUNCTION u32 source(u32 self, i64 lane, u32 count) {
  const u32 from = self / 32 * 32 + u32(lane);
  return lane >= 0 && lane < 32 && from < count ? from : self;
}

}  // namespace px
)px";

}  // namespace

std::string cpu_prelude_text() { return kCpu; }

}  // namespace hoist::px
