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

}  // namespace

std::string types_text() { return kTypes; }

}  // namespace hoist::px
