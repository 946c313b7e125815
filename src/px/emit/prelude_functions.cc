#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

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
#if !defined(__CUDACC__) && (defined(__FMA__) || defined(__aarch64__))
// Without a branch or a table, so that it runs in vectors everywhere, faster than the C library's.
// Up to 1.05 x + x P(x^2), above it 1 - 1 / Q(x)^8, P and Q fitted by least squares with weights
// that even out the error: 3.4 units in the last place at most, over all numbers.
PX_FUNCTION f32 erf_of(f32 a) {
  const f32 size = std::fabs(a);
  const f32 square = a * a;
  f32 near = -5.399635783e-04f;
  near = std::fma(near, square, 4.862027337e-03f);
  near = std::fma(near, square, -2.666514037e-02f);
  near = std::fma(near, square, 1.127862871e-01f);
  near = std::fma(near, square, -3.761214601e-01f);
  near = std::fma(near, square, 1.283790896e-01f);
  const f32 bounded = size > 4.0f ? 4.0f : size;  // from there on it is 1
  f32 far = 2.384023600e-03f;
  far = std::fma(far, bounded, -1.380142019e-02f);
  far = std::fma(far, bounded, 5.201257286e-02f);
  far = std::fma(far, bounded, -6.140016721e-02f);
  far = std::fma(far, bounded, 1.760988653e-01f);
  far = std::fma(far, bounded, 9.429427084e-02f);
  far = std::fma(far, bounded, 1.010525100e+00f);
  far *= far;
  far *= far;
  far *= far;
  return size > 1.05f ? std::copysign(1.0f - 1.0f / far, a) : std::fma(a, near, a);
}
PX_FUNCTION f64 erf_of(f64 a) { return std::erf(a); }
PX_FLOAT_FUNCTION(erf, erf_of(a))
#else
PX_FLOAT_FUNCTION(erf, PX_MATH erf(a))
#endif
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

std::string functions_text() { return kFunctions; }

}  // namespace hoist::px
