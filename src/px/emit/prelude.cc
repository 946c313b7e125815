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

}  // namespace

std::string prelude_text() { return std::string(kTypes) + kOperators + kFunctions; }

}  // namespace hoist::px
