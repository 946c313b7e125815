// Operations on single elements of f64, i64 and u64. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_TYPED_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_TYPED_FUNCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_TYPED_FUNCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_TYPED_FUNCTIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::typed {

// Integers are added, subtracted and multiplied as unsigned ones: these wrap.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T, class F>
HWY_INLINE T wrapping(T a, T b, const F& f) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<Wrapping<T>>(a), static_cast<Wrapping<T>>(b)));
  } else {
    return f(a, b);
  }
}

struct Copy {
  template <class T>
  static HWY_INLINE T of(T a) {
    return a;
  }
};
struct Negative {
  template <class T>
  static HWY_INLINE T of(T a) {
    if constexpr (!std::is_integral_v<T>) return -a;
    return static_cast<T>(0 - static_cast<Wrapping<T>>(a));
  }
};
struct Absolute {
  template <class T>
  static HWY_INLINE T of(T a) {
    if constexpr (!std::is_integral_v<T>) return std::fabs(a);
    return a < 0 ? Negative::of(a) : a;
  }
};
// NaN for NaN, -0 for -0.
struct Relu {
  template <class T>
  static HWY_INLINE T of(T a) {
    return a < 0 ? T{0} : a;
  }
};
struct Add {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Subtract {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Multiply {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Divide {
  static HWY_INLINE double of(double a, double b) { return a / b; }
};

// minimum and maximum of IEEE 754-2019. Without branches: loops of them become vectors.
struct Minimum {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const T least = a < b ? a : b;
    if constexpr (std::is_integral_v<T>) return least;
    // Equal numbers differ in the sign of 0 alone.
    const T of_equals = std::bit_cast<T>(std::bit_cast<int64_t>(a) | std::bit_cast<int64_t>(b));
    const T number = a == b ? of_equals : least;
    return (a != a) | (b != b) ? a + b : number;
  }
};
struct Maximum {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const T greatest = a > b ? a : b;
    if constexpr (std::is_integral_v<T>) return greatest;
    const T of_equals = std::bit_cast<T>(std::bit_cast<int64_t>(a) & std::bit_cast<int64_t>(b));
    const T number = a == b ? of_equals : greatest;
    return (a != a) | (b != b) ? a + b : number;
  }
};

struct Power {
  static HWY_INLINE double of(double a, double b) { return std::pow(a, b); }
  static HWY_INLINE uint64_t of(uint64_t a, uint64_t b) {
    uint64_t result = 1;
    for (; b != 0; b >>= 1, a *= a) {
      if ((b & 1) != 0) result *= a;
    }
    return result;
  }
  static HWY_INLINE int64_t of(int64_t a, int64_t b) {
    if (b >= 0) {
      return static_cast<int64_t>(of(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    }
    if (a == 1) return 1;
    if (a != -1) return 0;
    return b % 2 == 0 ? 1 : -1;
  }
};

// As Python's; what NumPy gives.
struct FloorDivide {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if (b == static_cast<T>(-1) && std::is_signed_v<T>) return Negative::of(a);
      const bool rounds_down = a % b != 0 && (a < 0) != (b < 0);
      return a / b - (rounds_down ? 1 : 0);
    } else {
      if (b == 0) return a / b;
      const T rest = std::fmod(a, b);
      T quotient = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
      if (quotient == 0) return std::copysign(T{0}, a / b);
      const T whole = std::floor(quotient);
      return quotient - whole > T{0.5} ? whole + 1 : whole;
    }
  }
};
struct Remainder {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0 || (b == static_cast<T>(-1) && std::is_signed_v<T>)) return 0;
      const T rest = a % b;
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      const T rest = std::fmod(a, b);
      if (b == 0) return rest;
      if (rest == 0) return std::copysign(T{0}, b);
      return (b < 0) != (rest < 0) ? rest + b : rest;
    }
  }
};

// f32 is a boolean here.
struct And {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    if constexpr (!std::is_integral_v<T>) return (a != 0) & (b != 0) ? 1 : 0;
    if constexpr (std::is_integral_v<T>) return a & b;
  }
};
struct Or {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    if constexpr (!std::is_integral_v<T>) return (a != 0) | (b != 0) ? 1 : 0;
    if constexpr (std::is_integral_v<T>) return a | b;
  }
};
struct Xor {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    if constexpr (!std::is_integral_v<T>) return (a != 0) != (b != 0) ? 1 : 0;
    if constexpr (std::is_integral_v<T>) return a ^ b;
  }
};
struct Invert {
  template <class T>
  static HWY_INLINE T of(T a) {
    if constexpr (!std::is_integral_v<T>) return a != 0 ? 0 : 1;
    if constexpr (std::is_integral_v<T>) return ~a;
  }
};
struct LeftShift {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const auto by = static_cast<uint64_t>(b);
    return by < 64 ? static_cast<T>(static_cast<uint64_t>(a) << by) : 0;
  }
};
struct RightShift {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    const auto by = static_cast<uint64_t>(b);
    return by < 64 ? a >> by : (a < 0 ? -1 : 0);
  }
};

#define HOIST_COMPARISON(Name, sign)       \
  struct Name {                            \
    template <class T>                     \
    static HWY_INLINE bool is(T a, T b) {  \
      return a sign b;                     \
    }                                      \
    template <class T>                     \
    static HWY_INLINE float of(T a, T b) { \
      return a sign b ? 1.0f : 0.0f;       \
    }                                      \
  };
HOIST_COMPARISON(Equal, ==)
HOIST_COMPARISON(NotEqual, !=)
HOIST_COMPARISON(Less, <)
HOIST_COMPARISON(LessEqual, <=)
HOIST_COMPARISON(Greater, >)
HOIST_COMPARISON(GreaterEqual, >=)
#undef HOIST_COMPARISON

struct Where {
  template <class C, class T>
  static HWY_INLINE T of(C condition, T a, T b) {
    return condition != 0 ? a : b;
  }
};

struct Erf {
  static HWY_INLINE double of(double a) { return std::erf(a); }
};
// 0 for zeros, NaN for NaN.
struct Sign {
  template <class T>
  static HWY_INLINE T of(T a) {
    if (a != a) return a;
    return static_cast<T>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0));
  }
};
template <double (*kFunction)(double)>
struct Libm {
  static HWY_INLINE double of(double a) { return kFunction(a); }
};
template <double (*kFunction)(double, double)>
struct LibmOfTwo {
  static HWY_INLINE double of(double a, double b) { return kFunction(a, b); }
};

// A NaN's sign counts as positive.
inline double with_sign_of(double a, double b) { return std::copysign(a, std::isnan(b) ? 0.0 : b); }

}  // namespace hoist::graph::HWY_NAMESPACE::typed
HWY_AFTER_NAMESPACE();
#endif
