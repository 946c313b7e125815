// Operations on single elements as they lie in memory. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_NARROW_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_NARROW_FUNCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_NARROW_FUNCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_NARROW_FUNCTIONS_INL_H_
#endif

#include <type_traits>

#include "graph/program/element_casts.h"
#include "graph/program/typed_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::narrow {

template <class Comparison>
struct Compared {
  template <class T>
  static HWY_INLINE uint8_t of(T a, T b) {
    return Comparison::is(a, b) ? 1 : 0;
  }
};

// Booleans are bytes, of which any but 0 is true.
template <class From, bool kIsBoolean>
struct Number {
  static HWY_INLINE auto of(From x) {
    if constexpr (kIsBoolean) return x != 0 ? 1 : 0;
    if constexpr (!kIsBoolean) return x;
  }
};
template <class From, bool kIsBoolean, class To>
struct Cast {
  static HWY_INLINE To of(From x) {
    const auto number = Number<From, kIsBoolean>::of(x);
    if constexpr (std::is_integral_v<To>) return program::integer_of<To>(number);
    if constexpr (!std::is_integral_v<To>) return static_cast<To>(number);
  }
};
template <class From>
struct ToBoolean {
  static HWY_INLINE uint8_t of(From x) { return x != 0 ? 1 : 0; }
};

struct And {
  static HWY_INLINE uint8_t of(uint8_t a, uint8_t b) { return (a != 0) & (b != 0); }
};
struct Or {
  static HWY_INLINE uint8_t of(uint8_t a, uint8_t b) { return (a | b) != 0; }
};
struct Xor {
  static HWY_INLINE uint8_t of(uint8_t a, uint8_t b) { return (a != 0) != (b != 0); }
};
struct Invert {
  static HWY_INLINE uint8_t of(uint8_t a) { return a == 0; }
};

struct Minimum {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a > b ? a : b;
  }
};

// By what is negative, or the type's bits or more: 0, or copies of the sign.
template <class T>
HWY_INLINE bool is_inside(T by) {
  return static_cast<std::make_unsigned_t<T>>(by) < 8 * sizeof(T);
}
struct LeftShift {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const uint32_t shifted = static_cast<uint32_t>(a) << (static_cast<uint32_t>(b) & 31);
    return is_inside(b) ? static_cast<T>(shifted) : T{0};
  }
};
struct RightShift {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const auto by = is_inside(b) ? static_cast<uint32_t>(b) : uint32_t{8 * sizeof(T) - 1};
    const T shifted = static_cast<T>(a >> by);
    return is_inside(b) || std::is_signed_v<T> ? shifted : T{0};
  }
};

// Quotients of floats that hold both numbers: no whole number lies between such a one and its
// rounding, so that what is cut off is the same.
template <class T>
struct Division {
  using Real = std::conditional_t<sizeof(T) <= 2, float, double>;
  using Whole = std::conditional_t<sizeof(T) <= 2, int32_t, T>;

  // Divisors whose quotients do not fit, or are none, are taken for 1.
  bool is_special;
  T quotient;
  T rest;

  HWY_INLINE Division(T a, T b) {
    const bool is_minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
    is_special = (b == 0) | is_minus_one;
    const T divisor = is_special ? T{1} : b;
    const Real real = static_cast<Real>(a) / static_cast<Real>(divisor);
    quotient = static_cast<T>(static_cast<Whole>(real));
    rest = typed::Subtract::of(a, typed::Multiply::of(quotient, divisor));
    if constexpr (std::is_signed_v<T>) {
      const bool is_across = (rest != 0) & ((rest < 0) != (divisor < 0));
      quotient = static_cast<T>(quotient - (is_across ? 1 : 0));
      rest = static_cast<T>(rest + (is_across ? divisor : T{0}));
    }
  }
};
// As Python's; by 0: 0.
struct FloorDivide {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const Division<T> division(a, b);
    const T special = b == 0 ? T{0} : typed::Negative::of(a);
    return division.is_special ? special : division.quotient;
  }
};
struct Remainder {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const Division<T> division(a, b);
    return division.is_special ? T{0} : division.rest;
  }
};

}  // namespace hoist::graph::HWY_NAMESPACE::narrow
HWY_AFTER_NAMESPACE();
#endif
