#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

constexpr const char* kTypes = R"px(// A kernel may compute what it does not use.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 177, 186
#define PX_FUNCTION __device__ __forceinline__
#define PX_MEMBER static __device__ __forceinline__
#define PX_METHOD __device__ __forceinline__
#define PX_REPORT __device__ __noinline__
#else
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <cmath>
#include <cstddef>
#include <cstring>
#define PX_FUNCTION static inline __attribute__((always_inline, unused))
#define PX_MEMBER static inline __attribute__((always_inline))
#define PX_METHOD inline __attribute__((always_inline))
#define PX_REPORT __attribute__((noinline, cold))
#endif

namespace px {

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

template <class To, class From>
PX_FUNCTION To bits_as(const From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
#if defined(__CUDACC__)
  memcpy(&to, &from, sizeof to);
#else
  std::memcpy(&to, &from, sizeof to);
#endif
  return to;
}

// 16-bit floats: computed in f32, each result rounded to nearest even.
PX_FUNCTION f32 f32_of_f16_bits(u16 bits) {
#if defined(__CUDACC__)
  f32 value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  const u32 shifted = u32(bits & 0x7fffu) << 13;
  const f32 finite = bits_as<f32>(shifted) * 0x1p112f;
  const u32 special = shifted | 0x7f800000u;
  const u32 magnitude = shifted >= 0x0f800000u ? special : bits_as<u32>(finite);
  return bits_as<f32>(magnitude | u32(bits & 0x8000u) << 16);
#endif
}
PX_FUNCTION u16 f16_bits_of(f32 value) {
#if defined(__CUDACC__)
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const u32 bits = bits_as<u32>(value);
  const u32 magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const u32 small = bits_as<u32>(bits_as<f32>(magnitude) + 0.5f) - 0x3f000000u;
  const u32 finite = magnitude < 0x38800000u ? small : normal;
  const u32 large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return u16((magnitude >= 0x477ff000u ? large : finite) | (bits >> 16 & 0x8000u));
#endif
}
PX_FUNCTION u16 bf16_bits_of(f32 value) {
  const u32 bits = bits_as<u32>(value);
  const u32 rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return u16((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40u) : rounded);
}

struct f16 {
  u16 bits;
  PX_MEMBER f16 of(f32 value) { return {f16_bits_of(value)}; }
};
struct bf16 {
  u16 bits;
  PX_MEMBER bf16 of(f32 value) { return {bf16_bits_of(value)}; }
};
PX_FUNCTION f32 wide(f16 value) { return f32_of_f16_bits(value.bits); }
PX_FUNCTION f32 wide(bf16 value) { return bits_as<f32>(u32(value.bits) << 16); }

// What the templates below ask about a type.
template <bool condition, class Yes, class No>
struct choose {
  using type = Yes;
};
template <class Yes, class No>
struct choose<false, Yes, No> {
  using type = No;
};
template <class A, class B>
struct same {
  static constexpr bool value = false;
};
template <class A>
struct same<A, A> {
  static constexpr bool value = true;
};
template <class T>
struct traits {
  static constexpr bool is_half = same<T, f16>::value || same<T, bf16>::value;
  static constexpr bool is_plain_float = same<T, f32>::value || same<T, f64>::value;
  static constexpr bool is_float = is_half || is_plain_float;
  static constexpr bool is_signed = same<T, i8>::value || same<T, i16>::value ||
                                    same<T, i32>::value || same<T, i64>::value;
  static constexpr int width = int(sizeof(T)) * 8;
  // As many bits without a sign, and at least as many as an int.
  using same_width =
      typename choose<sizeof(T) == 1, u8,
                      typename choose<sizeof(T) == 2, u16,
                                      typename choose<sizeof(T) == 4, u32, u64>::type>::type>::type;
  using word = typename choose<(sizeof(T) < 8), u32, u64>::type;
};

)px";

constexpr const char* kOperators =
    R"px(#define PX_HALF_OPERATOR(H, op)                                                          \
  PX_FUNCTION H operator op(H a, H b) { return H::of(wide(a) op wide(b)); }
#define PX_HALF_COMPARISON(H, op) \
  PX_FUNCTION bool operator op(H a, H b) { return wide(a) op wide(b); }
#define PX_HALF(H)                                                                       \
  PX_HALF_OPERATOR(H, +) PX_HALF_OPERATOR(H, -) PX_HALF_OPERATOR(H, *)                   \
  PX_HALF_OPERATOR(H, /) PX_HALF_COMPARISON(H, ==) PX_HALF_COMPARISON(H, !=)             \
  PX_HALF_COMPARISON(H, <) PX_HALF_COMPARISON(H, <=) PX_HALF_COMPARISON(H, >)            \
  PX_HALF_COMPARISON(H, >=)                                                              \
  PX_FUNCTION H operator-(H a) { return {u16(a.bits ^ 0x8000u)}; }
PX_HALF(f16)
PX_HALF(bf16)
#undef PX_HALF
#undef PX_HALF_COMPARISON
#undef PX_HALF_OPERATOR

// Integers that wrap. ptxas 13.0 shifts a negated 16-bit integer as if it had not wrapped, so it must
// not see that 32 bits become fewer.
template <class T>
PX_FUNCTION T wrapped(typename traits<T>::word bits) {
#if defined(__CUDACC__)
  if constexpr (traits<T>::is_signed && sizeof(T) < 4) asm("" : "+r"(bits));
#endif
  return T(bits);
}
template <class T>
PX_FUNCTION T add(T a, T b) {
  using word = typename traits<T>::word;
  return wrapped<T>(word(a) + word(b));
}
template <class T>
PX_FUNCTION T sub(T a, T b) {
  using word = typename traits<T>::word;
  return wrapped<T>(word(a) - word(b));
}
template <class T>
PX_FUNCTION T mul(T a, T b) {
  using word = typename traits<T>::word;
  return wrapped<T>(word(a) * word(b));
}
// Sums and products of thread ids; near ones are known to be too small to wrap.
template <bool near>
PX_FUNCTION i32 add(i32 a, i32 b) {
  if constexpr (near) return a + b;
  return add(a, b);
}
template <bool near>
PX_FUNCTION i32 sub(i32 a, i32 b) {
  if constexpr (near) return a - b;
  return sub(a, b);
}
template <bool near>
PX_FUNCTION i32 mul(i32 a, i32 b) {
  if constexpr (near) return a * b;
  return mul(a, b);
}
template <class T>
PX_FUNCTION T negate(T a) {
  using word = typename traits<T>::word;
  return wrapped<T>(word(0) - word(a));
}

// x / 0 is 0 and x % 0 is x; the least divided by -1 is itself, without a remainder.
template <class T>
PX_FUNCTION T div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (traits<T>::is_signed) {
    if (b == T(-1)) return negate(a);
  }
  return T(a / b);
}
template <class T>
PX_FUNCTION T rem(T a, T b) {
  if (b == 0) return a;
  if constexpr (traits<T>::is_signed) {
    if (b == T(-1)) return 0;
  }
  return T(a % b);
}

// By the width or more, or by a negative amount: nothing is left but the sign.
template <class T, class N>
PX_FUNCTION T shl(T a, N by) {
  using word = typename traits<T>::word;
  return u64(by) < u64(traits<T>::width) ? T(word(a) << by) : T(0);
}
template <class T, class N>
PX_FUNCTION T shr(T a, N by) {
  if (u64(by) < u64(traits<T>::width)) return T(a >> by);
  return a < 0 ? T(-1) : T(0);
}
template <class T, class N>
PX_FUNCTION T rotl(T a, N by) {
  using word = typename traits<T>::same_width;
  constexpr u32 mask = traits<T>::width - 1;
  const u32 left = u32(by) & mask;
  return T(word(word(a) << left) | word(word(a) >> ((0u - left) & mask)));
}
template <class T, class N>
PX_FUNCTION T rotr(T a, N by) {
  return rotl(a, 0u - u32(by));
}

// Numbers win over NaNs, and -0 is less than 0.
template <class T>
PX_FUNCTION T min(T a, T b) {
  if constexpr (traits<T>::is_half) {
    return T::of(min(wide(a), wide(b)));
  } else if constexpr (traits<T>::is_float) {
#if defined(__CUDACC__)
    return ::fmin(a, b);
#else
    using word = typename traits<T>::same_width;
    const T either = bits_as<T>(word(bits_as<word>(a) | bits_as<word>(b)));
    const T less = b < a || a != a ? b : a;
    return a == b ? either : less;
#endif
  } else {
    return b < a ? b : a;
  }
}
template <class T>
PX_FUNCTION T max(T a, T b) {
  if constexpr (traits<T>::is_half) {
    return T::of(max(wide(a), wide(b)));
  } else if constexpr (traits<T>::is_float) {
#if defined(__CUDACC__)
    return ::fmax(a, b);
#else
    using word = typename traits<T>::same_width;
    const T either = bits_as<T>(word(bits_as<word>(a) & bits_as<word>(b)));
    const T more = b > a || a != a ? b : a;
    return a == b ? either : more;
#endif
  } else {
    return b > a ? b : a;
  }
}

// Floats become integers within their range, NaN becomes 0.
template <class To, class From>
PX_FUNCTION To saturate(From value) {
  constexpr int digits = traits<To>::width - (traits<To>::is_signed ? 1 : 0);
  constexpr u64 most = ~u64(0) >> (64 - digits);
  constexpr From above = From(u64(1) << (digits - 1)) * 2;
  constexpr From least = traits<To>::is_signed ? -above : From(0);
  // Chosen by values, not by branches.
  const bool is_high = value >= above;
  const bool is_inside = value >= least && value < above;
  const To inside = To(is_inside ? value : From(0));
  const To low = value < least ? To(traits<To>::is_signed ? ~most : 0) : inside;
  return is_high ? To(most) : low;
}
template <class To, class From>
PX_FUNCTION To to(From value) {
  if constexpr (traits<From>::is_half) {
    return to<To>(wide(value));
  } else if constexpr (traits<To>::is_half) {
    return To::of(f32(value));
  } else if constexpr (same<To, bool>::value) {
    return value < 0 || value > 0;
  } else if constexpr (traits<From>::is_float && !traits<To>::is_float) {
    return saturate<To>(value);
  } else {
    return To(value);
  }
}

)px";

constexpr const char* kFunctions = R"px(template <class T>
PX_FUNCTION bool isnan(T a) {
  return a != a;
}
#if defined(__CUDACC__)
#define PX_MATH ::
#else
#define PX_MATH std::
#endif
// A function of floats, for all four types of them.
#define PX_FLOAT_FUNCTION(name, plain)                                                   \
  template <class T>                                                                     \
  PX_FUNCTION T name(T a) {                                                              \
    if constexpr (traits<T>::is_half) {                                                  \
      return T::of(name(wide(a)));                                               \
    } else {                                                                             \
      return plain;                                                                      \
    }                                                                                    \
  }
PX_FLOAT_FUNCTION(sqrt, PX_MATH sqrt(a))
PX_FLOAT_FUNCTION(floor, PX_MATH floor(a))
PX_FLOAT_FUNCTION(ceil, PX_MATH ceil(a))
PX_FLOAT_FUNCTION(trunc, PX_MATH trunc(a))
PX_FLOAT_FUNCTION(round, PX_MATH rint(a))
PX_FLOAT_FUNCTION(rsqrt, T(1) / PX_MATH sqrt(a))
PX_FLOAT_FUNCTION(exp, PX_MATH exp(a))
PX_FLOAT_FUNCTION(exp2, PX_MATH exp2(a))
PX_FLOAT_FUNCTION(log, PX_MATH log(a))
PX_FLOAT_FUNCTION(log2, PX_MATH log2(a))
PX_FLOAT_FUNCTION(log10, PX_MATH log10(a))
PX_FLOAT_FUNCTION(sin, PX_MATH sin(a))
PX_FLOAT_FUNCTION(cos, PX_MATH cos(a))
PX_FLOAT_FUNCTION(tan, PX_MATH tan(a))
PX_FLOAT_FUNCTION(tanh, PX_MATH tanh(a))
PX_FLOAT_FUNCTION(erf, PX_MATH erf(a))
#undef PX_FLOAT_FUNCTION
template <class T>
PX_FUNCTION T pow(T a, T b) {
  if constexpr (traits<T>::is_half) {
    return T::of(pow(wide(a), wide(b)));
  } else {
    return PX_MATH pow(a, b);
  }
}
template <class T>
PX_FUNCTION T fma(T a, T b, T c) {
  if constexpr (traits<T>::is_half) {
    return T::of(fma(wide(a), wide(b), wide(c)));
  } else {
    return PX_MATH fma(a, b, c);
  }
}
template <class T>
PX_FUNCTION T abs(T a) {
  if constexpr (traits<T>::is_half) {
    return {u16(a.bits & 0x7fffu)};
  } else if constexpr (traits<T>::is_float) {
    return PX_MATH fabs(a);
  } else {
    return a < 0 ? negate(a) : a;
  }
}
#undef PX_MATH

template <class T>
PX_FUNCTION T popcount(T a) {
  const u64 bits = typename traits<T>::same_width(a);
#if defined(__CUDACC__)
  return T(__popcll(bits));
#else
  return T(__builtin_popcountll(bits));
#endif
}
template <class T>
PX_FUNCTION T clz(T a) {
  const u64 bits = typename traits<T>::same_width(a);
  constexpr int unused = 64 - traits<T>::width;
#if defined(__CUDACC__)
  return T(__clzll(i64(bits)) - unused);
#else
  return T(bits == 0 ? traits<T>::width : __builtin_clzll(bits) - unused);
#endif
}
template <class T>
PX_FUNCTION T ctz(T a) {
  const u64 bits = typename traits<T>::same_width(a);
#if defined(__CUDACC__)
  return T(bits == 0 ? traits<T>::width : __ffsll(i64(bits)) - 1);
#else
  return T(bits == 0 ? traits<T>::width : __builtin_ctzll(bits));
#endif
}
template <class T>
PX_FUNCTION T mulhi(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    using product = typename choose<traits<T>::is_signed, i64, u64>::type;
    return T(product(a) * product(b) >> traits<T>::width);
  } else {
#if defined(__CUDACC__)
    if constexpr (traits<T>::is_signed) return __mul64hi(a, b);
    return __umul64hi(a, b);
#else
    using product = typename choose<traits<T>::is_signed, __int128, unsigned __int128>::type;
    return T(product(a) * product(b) >> 64);
#endif
  }
}

// Vectors are for wide loads and stores.
template <class T, int lanes>
struct alignas(sizeof(T) * lanes > 16 ? 16 : sizeof(T) * lanes) vec {
  T lane[lanes];
};
template <int lanes, class T>
PX_FUNCTION vec<T, lanes> load_vector(const T* array, i64 index) {
  return reinterpret_cast<const vec<T, lanes>*>(array)[index];
}
template <int lanes, class T>
PX_FUNCTION void store_vector(T* array, i64 index, vec<T, lanes> value) {
  reinterpret_cast<vec<T, lanes>*>(array)[index] = value;
}

// The first access beyond an array's end.
struct fault {
  u32 taken;
  u32 site;  // which access of the module
  i64 index;
  u64 length;
  u32 block[3];
  u32 thread[3];
};

// Where a thread is, and what it does where bounds are checked.
struct checker {
  px::fault* fault;
  u32 block[3];
  u32 thread[3];

  PX_REPORT void report(u32 site, i64 index, u64 length) const {
#if defined(__CUDACC__)
    if (atomicCAS(&fault->taken, 0u, 1u) != 0) return;
#else
    u32 free = 0;
    if (!__atomic_compare_exchange_n(&fault->taken, &free, 1u, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
      return;
    }
#endif
    fault->site = site;
    fault->index = index;
    fault->length = length;
    for (int d = 0; d < 3; ++d) {
      fault->block[d] = block[d];
      fault->thread[d] = thread[d];
    }
  }
  // Whether elements [index * lanes, (index + 1) * lanes) are in the array.
  template <class I>
  PX_METHOD bool is_inside(I index, u64 length, u32 lanes, u32 site) const {
    const bool inside = !(traits<I>::is_signed && index < 0) && u64(index) < length / lanes;
    if (!inside) report(site, i64(u64(index) * lanes), length);
    return inside;
  }
  template <class T, class I>
  PX_METHOD T load(const T* array, I index, u64 length, u32 site) const {
    return is_inside(index, length, 1, site) ? array[index] : T{};
  }
  template <int lanes, class T, class I>
  PX_METHOD vec<T, lanes> load_vector(const T* array, I index, u64 length, u32 site) const {
    if (!is_inside(index, length, lanes, site)) return {};
    return px::load_vector<lanes>(array, index);
  }
};

// Whether a loop at `at` that counts by `step` has another turn before `to`.
template <class T>
PX_FUNCTION bool has_turn(T at, T to, T step) {
  if constexpr (traits<T>::is_signed) {
    return step > 0 ? at < to : step < 0 && at > to;
  }
  return step != 0 && at < to;
}
// Goes to the next turn; false where there is none.
template <class T>
PX_FUNCTION bool next_turn(T& at, T to, T step) {
  using word = typename traits<T>::same_width;
  const bool is_down = traits<T>::is_signed && step < 0;
  const word left = is_down ? word(word(at) - word(to)) : word(word(to) - word(at));
  const word size = is_down ? word(word(0) - word(step)) : word(step);
  at = add(at, step);
  return left > size;
}

}  // namespace px
)px";

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

std::string prelude_text() { return std::string(kTypes) + kOperators + kFunctions; }
std::string cpu_prelude_text() { return kCpu; }
std::string cuda_prelude_text() { return kCuda; }

}  // namespace hoist::px
