#include "px/emit/prelude.h"

namespace hoist::px {
namespace {

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

}  // namespace

std::string operators_text() { return kOperators; }

}  // namespace hoist::px
