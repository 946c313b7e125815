// What element types are computed in, and which operations take which.
//
// Programs take booleans, integers, f16, bf16, f32 and f64. Values are computed with in lanes of
// four kinds: f32 has booleans (0 and 1), f16 and bf16, too; i64 has all integers but u64.
// Arithmetic of a narrower type is that of its lanes, and a cast that rounds, or wraps, back to the
// type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/dtype.h"
#include "graph/program/op.h"

namespace hoist::graph::program {

using array::DType;

enum class Lanes : uint8_t { f32, f64, i64, u64 };
inline constexpr size_t kLaneKinds = 4;

constexpr Lanes lanes_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::f16:
    case DType::bf16:
    case DType::f32:
      return Lanes::f32;
    case DType::f64:
      return Lanes::f64;
    case DType::u64:
      return Lanes::u64;
    default:
      return Lanes::i64;
  }
}
constexpr size_t lane_bytes(Lanes lanes) { return lanes == Lanes::f32 ? 4 : 8; }
// Whether lanes are a type's elements as they lie in memory.
constexpr bool is_lane_type(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64 || dtype == DType::u64;
}

// The type whose elements lie in memory as that type's lanes.
constexpr DType lane_type(DType dtype) {
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::i64, DType::u64};
  return kTypes[static_cast<size_t>(lanes_of(dtype))];
}

// Whether programs take it.
bool is_program_type(DType dtype);
bool is_float(DType dtype);
bool is_integer(DType dtype);
bool is_unsigned(DType dtype);
// An element's; inline, for each call of a program asks.
constexpr size_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::u8:
      return 1;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    default:
      return 8;
  }
}

// Whether the operation takes arrays of that type; of `where` its choices.
bool takes(Op op, DType dtype);
// "floats", "numbers": what it takes, for messages.
const char* taken_by(Op op);

// The type in which the operation computes: for arithmetic of narrower types a wider one. For sums
// and products over axes that is the result's type, too, where the elements are integers.
DType computed_in(Op op, DType dtype);
// What divisions and means of integers, and functions of them, give: f64 for 64 bits, else f32.
DType float_for(DType dtype);

// Whether a cast changes no lane: a narrower type as the one that its lanes are.
bool is_free_cast(DType from, DType to);

}  // namespace hoist::graph::program
