// Elements as they lie in memory, and as lanes.
#pragma once

#include <bit>
#include <cstdint>

#include "array/convert.h"
#include "graph/program/types.h"

namespace hoist::graph::program {

// Memory: as an element lies there. Lane: as it is computed with. widened(), narrowed(): the one as
// the other; lanes are numbers of the type.
template <typename M, typename L>
struct PlainElement {
  using Memory = M;
  using Lane = L;
  static inline Lane widened(Memory x) { return static_cast<Lane>(x); }
  static inline Memory narrowed(Lane x) { return static_cast<Memory>(x); }
};

template <DType>
struct Element;
template <>
struct Element<DType::boolean> {
  using Memory = uint8_t;
  using Lane = float;
  static inline float widened(uint8_t x) { return x != 0 ? 1.0f : 0.0f; }
  static inline uint8_t narrowed(float x) { return x != 0 ? 1 : 0; }
};
template <>
struct Element<DType::f16> {
  using Memory = uint16_t;
  using Lane = float;
  static inline float widened(uint16_t x) { return array::f16_to_f32(x); }
  static inline uint16_t narrowed(float x) { return array::f32_to_f16(x); }
};
template <>
struct Element<DType::bf16> {
  using Memory = uint16_t;
  using Lane = float;
  static inline float widened(uint16_t x) { return array::bf16_to_f32(x); }
  static inline uint16_t narrowed(float x) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16);
  }
};
template <>
struct Element<DType::f32> : PlainElement<float, float> {};
template <>
struct Element<DType::f64> : PlainElement<double, double> {};
template <>
struct Element<DType::i8> : PlainElement<int8_t, int64_t> {};
template <>
struct Element<DType::i16> : PlainElement<int16_t, int64_t> {};
template <>
struct Element<DType::i32> : PlainElement<int32_t, int64_t> {};
template <>
struct Element<DType::i64> : PlainElement<int64_t, int64_t> {};
template <>
struct Element<DType::u8> : PlainElement<uint8_t, int64_t> {};
template <>
struct Element<DType::u16> : PlainElement<uint16_t, int64_t> {};
template <>
struct Element<DType::u32> : PlainElement<uint32_t, int64_t> {};
template <>
struct Element<DType::u64> : PlainElement<int64_t, int64_t> {};

// use(Element<dtype>())
template <typename Use>
void with_type(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::boolean:
      return use(Element<DType::boolean>());
    case DType::f16:
      return use(Element<DType::f16>());
    case DType::bf16:
      return use(Element<DType::bf16>());
    case DType::f32:
      return use(Element<DType::f32>());
    case DType::f64:
      return use(Element<DType::f64>());
    case DType::i8:
      return use(Element<DType::i8>());
    case DType::u8:
      return use(Element<DType::u8>());
    case DType::i16:
      return use(Element<DType::i16>());
    case DType::u16:
      return use(Element<DType::u16>());
    case DType::i32:
      return use(Element<DType::i32>());
    case DType::u32:
      return use(Element<DType::u32>());
    default:
      return use(Element<DType::i64>());
  }
}

}  // namespace hoist::graph::program
